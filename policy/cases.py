"""The cases written beside a bundle's policies: a question each, and the verdict that must come of it.

Reads its own file at load and nothing afterwards; a case changes a few facts of a question given once.
"""

import copy
import json
from pathlib import Path
from typing import Any

from domain.action import ApprovalRole
from domain.base import Noun
from domain.verdict import PolicyQuestion, VerdictKind
from policy.bundle import BASE


class Case(Noun):
    """One question and what must come of it; `rules` are the ids that decide it, in alphabetical order."""

    name: str
    question: PolicyQuestion
    verdict: VerdictKind
    rules: tuple[str, ...]
    required: tuple[ApprovalRole, ...] = ()


def load_cases(folder: Path = BASE) -> tuple[Case, ...]:
    """Return the cases of the bundle in `folder`. Raises ValueError that names the case that cannot be read."""
    content = json.loads((folder / "cases.json").read_text("utf-8"))
    return tuple(_case(raw, content["given"]) for raw in content["cases"])


def _case(raw: dict[str, Any], given: dict[str, Any]) -> Case:
    try:
        told = {k: v for k, v in raw.items() if k not in ("of", "with")}
        return Case.model_validate({**told, "question": _changed(given[raw["of"]], raw.get("with", {}))})
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"case {raw.get('name', raw)!r}: {error}") from error


def _changed(question: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy of `question` with the values at the given paths, such as `account.orders.0.status`, changed."""
    made = copy.deepcopy(question)
    for path, value in changes.items():
        *way, last = path.split(".")
        place: Any = made
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        place[int(last) if isinstance(place, list) else last] = value
    return made
