"""The cases written beside a bundle's rules: a question each, and the verdict that must come of it.

Reads its own file at load and nothing afterwards; a case changes a few facts of a question or request given once.
"""

import copy
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from domain.action import ApprovalRole
from domain.base import Noun
from domain.verdict import PolicyQuestion, Verdict, VerdictKind
from policy.bundle import BASE, CASES
from policy.engine import PolicyEngine
from policy.invalid import BundleInvalid
from policy.question import request_of
from policy.rules import DEFAULT_DENY, EVALUATION_ERROR

A_GIVEN = '{"given": NAME, "question": {…}} or {"given": NAME, "request": {…}} gives something to change'
A_CASE = (
    '{"case": NAME, "of": GIVEN, "with": {PATH: VALUE}, "verdict": "permit", "ask" or "forbid", "rules": [ID], '
    '"required": [ROLE]} is a case'
)


class Case(Noun):
    """A question, or a Cedar request with the approvals granted, and what must come of it.

    `rules` are the ids that decide it, in alphabetical order; `line` is where it stands in its file.
    """

    name: str
    line: int
    question: PolicyQuestion | None = None
    request: dict[str, Any] | None = None
    granted: tuple[ApprovalRole, ...] = ()
    verdict: VerdictKind
    rules: tuple[str, ...]
    required: tuple[ApprovalRole, ...] = ()

    def asked(self) -> dict[str, Any]:
        """Return the Cedar request that it asks, without approvals."""
        return request_of(self.question) if self.question else dict(self.request or {})

    def judged(self, engine: PolicyEngine) -> Verdict:
        """Return the verdict that `engine` comes to."""
        return engine.judge(self.question) if self.question else engine.judge_request(self.request or {}, self.granted)


class Failure(Noun):
    """A case whose verdict is not what it must be; `unknown` are the rules it names that the bundle does not have."""

    case: Case
    verdict: Verdict
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        due = _told(self.case.verdict, self.case.rules, self.case.required)
        met = _told(self.verdict.kind, self.verdict.rule_ids, self.verdict.required)
        hint = f"; there is no rule {' and no rule '.join(self.unknown)}" if self.unknown else ""
        return f"{CASES}:{self.case.line}: {self.case.name}: the verdict is {met}; the case says {due}{hint}"


def failures(engine: PolicyEngine, cases: Iterable[Case]) -> tuple[Failure, ...]:
    """Return the cases that come out otherwise under `engine`, in their order."""
    judged = ((case, case.judged(engine)) for case in cases)
    known = engine.bundle.rule_ids | {DEFAULT_DENY, EVALUATION_ERROR}
    return tuple(
        Failure(case=case, verdict=verdict, unknown=tuple(name for name in case.rules if name not in known))
        for case, verdict in judged
        if (verdict.kind, verdict.rule_ids, verdict.required) != (case.verdict, case.rules, case.required)
    )


def asked_by(cases: Iterable[Case]) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the Cedar requests that `cases` ask, by name; none for one whose question makes no request."""
    asked = []
    for case in cases:
        with suppress(TypeError, ValueError, ArithmeticError, LookupError):
            asked.append((case.name, case.asked()))
    return tuple(asked)


def load_cases(folder: Path = BASE) -> tuple[Case, ...]:
    """Return the cases of the bundle in `folder`, none where it has no file of them. Raises BundleInvalid."""
    path = folder / CASES
    try:
        return parse_cases(path.read_text("utf-8")) if path.exists() else ()
    except OSError as error:
        raise BundleInvalid(CASES, 1, f"cannot be read: {error.strerror}", "a file that can be read") from error
    except UnicodeDecodeError as error:
        raise BundleInvalid(CASES, 1, f"not UTF-8: {error.reason}", "text in UTF-8") from error


def parse_cases(text: str) -> tuple[Case, ...]:
    """Return the cases in `text`, one JSON object a line. Raises BundleInvalid with the line that is wrong."""
    given: dict[str, dict[str, Any]] = {}
    cases: dict[str, Case] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        raw = _object(number, line)
        if "given" in raw:
            _give(given, number, raw)
        else:
            case = _case(number, raw, given)
            if case.name in cases:
                wrong = f"the case {case.name!r} stands in line {cases[case.name].line} already"
                raise BundleInvalid(CASES, number, wrong, "give the case a name of its own")
            cases[case.name] = case
    return tuple(cases.values())


class _Given(Noun):
    given: str
    question: dict[str, Any] | None = None
    request: dict[str, Any] | None = None


class _Line(Noun):
    case: str
    of: str
    changes: dict[str, Any] = Field(default={}, alias="with")
    verdict: VerdictKind
    rules: tuple[str, ...]
    required: tuple[ApprovalRole, ...] = ()


def _object(number: int, line: str) -> dict[str, Any]:
    try:
        raw = json.loads(line, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BundleInvalid(CASES, number, f"not JSON: {error.msg} at column {error.colno}", A_CASE) from error
    except ValueError as error:  # NaN and the like, or a number with more digits than Python reads
        raise BundleInvalid(CASES, number, "a number in it is none that JSON has", A_CASE) from error
    except RecursionError as error:
        raise BundleInvalid(CASES, number, "it nests too deep", A_CASE) from error
    if not isinstance(raw, dict):
        raise BundleInvalid(CASES, number, "not a JSON object", A_CASE)
    return raw


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _give(given: dict[str, dict[str, Any]], number: int, raw: dict[str, Any]) -> None:
    try:
        told = _Given.model_validate(raw)
    except ValidationError as error:
        raise BundleInvalid(CASES, number, _wrong(error), A_GIVEN) from error
    if (told.question is None) == (told.request is None):
        raise BundleInvalid(CASES, number, "it gives both a question and a request, or neither", A_GIVEN)
    given[told.given] = {name: raw[name] for name in ("question", "request") if name in raw}


def _case(number: int, raw: dict[str, Any], given: Mapping[str, dict[str, Any]]) -> Case:
    try:
        line = _Line.model_validate(raw)
    except ValidationError as error:
        raise BundleInvalid(CASES, number, _wrong(error), A_CASE) from error
    if line.of not in given:
        right = f"given above it are {', '.join(given) or 'none'}"
        raise BundleInvalid(CASES, number, f"nothing is given as {line.of!r}", right)
    told = {"name": line.case, "line": number, "verdict": line.verdict, "rules": sorted(line.rules)}
    [(kind, content)] = given[line.of].items()
    try:
        made = _changed(content, line.changes)
        if kind == "request":
            told["granted"] = made.pop("granted", ())
        return Case(**told, **{kind: made}, required=line.required)
    except ValidationError as error:
        raise BundleInvalid(CASES, number, _wrong(error), f"change facts that a {kind} has") from error
    except (LookupError, TypeError, ValueError) as error:
        wrong = f"there is no such place in {line.of!r}: {error}"
        raise BundleInvalid(CASES, number, wrong, "a path is names and positions, such as target.items.0.id") from error


def _changed(content: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `content` with the values at the given paths, such as `account.orders.0.status`, changed."""
    made = copy.deepcopy(content)
    for path, value in changes.items():
        *way, last = path.split(".")
        place: Any = made
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        place[int(last) if isinstance(place, list) else last] = value
    return made


def _wrong(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _told(kind: VerdictKind, rules: Iterable[str], required: Iterable[ApprovalRole]) -> str:
    needed = ", ".join(role.value for role in required)
    return f"{kind.value} by {', '.join(rules) or 'no rule'}{f', with {needed}' if needed else ''}"
