"""Examining a bundle before it counts: its rules load, its cases come out as they say, its conflicts are shown.

Pure, and heavy for a moment: whoever serves traffic examines in a process of its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from domain.base import Noun
from policy.bundle import CASES, Bundle
from policy.engine import PolicyEngine
from policy.examining.cases import Case, asked_by, failures, parse_cases
from policy.examining.conflicts import Conflict, Conflicts, Unreached, conflicts_of
from policy.examining.unasked import Unasked, unasked_of
from policy.invalid import BundleInvalid
from policy.manifest import Manifest

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Examined(Noun):
    """What a bundle is: `failed` are its cases that come out otherwise, `conflicts` those that its base does not have.

    `over` names the base of a layer; `general` are the forbids of that base that hold for every action; `inherited`
    counts the pairs of the base that pull in opposite directions; `unasked` are permits of its own that let something
    through which nobody has approved; `tried` counts the requests that were tried for conflicts.
    """

    digest: str
    manifest: Manifest
    over: str | None
    rule_ids: tuple[str, ...]
    cases_n: int
    failed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    general: tuple[str, ...]
    inherited: int
    unreached: tuple[Unreached, ...]
    unasked: tuple[Unasked, ...]
    tried: int

    def __str__(self) -> str:
        """Return what a person is told, a line each."""
        m = self.manifest
        whose = f"layer of {m.tenant} over {self.over}" if m.base else "base"
        lines = [f"{m.id} {m.version}: {whose}, {counted(len(self.rule_ids), 'rule')}, {self.digest[:12]}"]
        lines.append(f"  {m.changed}")
        lines += [f"  case fails: {told}" for told in self.failed]
        lines.append(f"  {outcome_of(self.cases_n, len(self.failed))}")
        lines += _pulling(self.conflicts, self.general)
        if self.inherited:
            lines.append(f"  {counted(self.inherited, 'pair')} more in its base already")
        lines += [f"  asks nobody: {u}" for u in self.unasked]
        lines += [f"  never comes through: {u}" for u in self.unreached]
        lines.append(f"  {counted(self.tried, 'request')} tried; --json shows every pair with its own")
        return "\n".join(lines)


def counted(n: int, noun: str) -> str:
    """Return `n` of them in words: `1 case`, `2 cases`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def outcome_of(cases_n: int, failed_n: int) -> str:
    """Return how many cases come out as they say, or that there are none, which is worth knowing."""
    if not cases_n:
        return f"NO CASES: nothing says what must come of which request; write some for each rule into {CASES}"
    verb = "comes out as it says" if cases_n == 1 else "come out as they say"
    return f"{cases_n - failed_n} of {counted(cases_n, 'case')} {verb}"


def _pulling(conflicts: Sequence[Conflict], general: Sequence[str]) -> Iterator[str]:
    """Yield the lines on rules that pull in opposite directions; of the `general` forbids, how many there are."""
    if not conflicts:
        yield "  no two rules pull in opposite directions that its base does not have"
        return
    verb = "pulls" if len(conflicts) == 1 else "pull"
    yield f"  {counted(len(conflicts), 'pair')} of rules {verb} in opposite directions, and the forbid wins:"
    for line in _by_forbid([conflict for conflict in conflicts if conflict.forbid not in general]):
        yield f"    {line}"
    folded = {conflict.forbid for conflict in conflicts if conflict.forbid in general}
    if folded:
        verb = "holds" if len(folded) == 1 else "hold"
        yield f"    and {counted(len(folded), 'rule')} of the base that {verb} for every action, as over any permit"


def _by_forbid(conflicts: Sequence[Conflict]) -> Iterator[str]:
    """Yield a line for each forbid: which permits it overrules, and one request that shows it."""
    found: dict[str, list[Conflict]] = {}
    for conflict in conflicts:
        found.setdefault(conflict.forbid, []).append(conflict)
    for forbid, pairs in found.items():
        permits = sorted({pair.permit for pair in pairs})
        shown = min(pairs, key=lambda pair: (len(pair.also), len(pair.changes)))
        yield f"{forbid} overrules {', '.join(permits)}; for example, {shown}"


def load(files: Mapping[str, str], base_files: Mapping[str, str] | None) -> Bundle:
    """Return the bundle that `files` make, over its base where that is given. Raises BundleInvalid."""
    return Bundle.parse(files) if base_files is None else Bundle.layered(Bundle.parse(base_files), files)


def examine(files: Mapping[str, str], base_files: Mapping[str, str] | None = None) -> Examined:
    """Return all that is to be known of a bundle before it counts. Raises BundleInvalid, for its cases too."""
    _hold_storable(files)
    bundle = load(files, base_files)
    cases = _cases(files)
    base = bundle.base
    inherited = conflicts_of(base, asked_by(_cases(base.files))) if base else None
    starts = asked_by((*cases, *(_cases(base.files) if base else ())))
    found = conflicts_of(bundle, starts)
    return Examined(
        digest=bundle.digest,
        manifest=bundle.manifest,
        over=named(base) if base else None,
        rule_ids=tuple(sorted(bundle.rule_ids)),
        cases_n=len(cases),
        failed=tuple(str(failure) for failure in failures(PolicyEngine(bundle), cases)),
        conflicts=found.new_since(inherited) if inherited else found.found,
        general=_general(base) if base else (),
        inherited=_inherited(found, inherited),
        unreached=found.unreached,
        unasked=unasked_of(bundle, starts),
        tried=found.tried,
    )


def named(bundle: Bundle) -> str:
    """Return a bundle's name, version and digest for people."""
    return f"{bundle.manifest.id} {bundle.manifest.version} ({bundle.digest[:12]})"


def _general(base: Bundle) -> tuple[str, ...]:
    return tuple(rule.id for rule in base.rules if not rule.permits and rule.tree["action"]["op"] == "All")


def _hold_storable(files: Mapping[str, str]) -> None:
    """Raise BundleInvalid for what could not be kept, or given a name in a folder."""
    for name, text in sorted(files.items()):
        if not FILE_NAME.fullmatch(name):
            raise BundleInvalid(
                ascii(name), 1, "no file of a bundle is named so", "up to 100 letters, digits, dots, hyphens and _"
            )
        if "\x00" in text:
            line = text.partition("\x00")[0].count("\n") + 1
            raise BundleInvalid(name, line, "there is a NUL character in it", "text without one")


def _inherited(found: Conflicts, inherited: Conflicts | None) -> int:
    return len(found.found) - len(found.new_since(inherited)) if inherited else 0


def _cases(files: Mapping[str, str]) -> tuple[Case, ...]:
    return parse_cases(files[CASES]) if CASES in files else ()
