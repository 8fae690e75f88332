"""Examining a bundle before it counts: its rules load, its cases come out as they say, its conflicts are shown.

Pure, and heavy for a moment: whoever serves traffic examines in a process of its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from domain.base import Noun
from policy.bundle import CASES, Bundle
from policy.cases import Case, asked_by, failures, parse_cases
from policy.conflicts import Conflict, Conflicts, Unreached, conflicts_of
from policy.engine import PolicyEngine
from policy.invalid import BundleInvalid
from policy.manifest import Manifest

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Examined(Noun):
    """What a bundle is: `failed` are its cases that come out otherwise, `conflicts` those that its base does not have.

    `inherited` counts the pairs of the base that pull in opposite directions; `tried` the requests that were tried.
    """

    digest: str
    manifest: Manifest
    rule_ids: tuple[str, ...]
    cases_n: int
    failed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    inherited: int
    unreached: tuple[Unreached, ...]
    tried: int

    def __str__(self) -> str:
        """Return what a person is told, a line each."""
        m = self.manifest
        whose = f"layer of {m.tenant} over {m.base}" if m.base else "base"
        lines = [f"{m.id} {m.version}: {whose}, {len(self.rule_ids)} rules, {self.digest[:12]}", f"  {m.changed}"]
        lines += [f"  case fails: {told}" for told in self.failed]
        lines.append(f"  {self.cases_n - len(self.failed)} of {self.cases_n} cases come out as they say")
        lines.append(f"  {len(self.conflicts)} pairs of rules pull in opposite directions, and the forbid wins:")
        lines += [f"    {line}" for line in _by_forbid(self.conflicts)]
        if self.inherited:
            lines.append(f"  {self.inherited} more pairs do so in its base already")
        lines += [f"  never comes through: {u}" for u in self.unreached]
        lines.append(f"  {self.tried} requests were tried; --json shows every pair with its own")
        return "\n".join(lines)


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
    found = conflicts_of(bundle, asked_by((*cases, *(_cases(base.files) if base else ()))))
    return Examined(
        digest=bundle.digest,
        manifest=bundle.manifest,
        rule_ids=tuple(sorted(bundle.rule_ids)),
        cases_n=len(cases),
        failed=tuple(str(failure) for failure in failures(PolicyEngine(bundle), cases)),
        conflicts=found.new_since(inherited) if inherited else found.found,
        inherited=_inherited(found, inherited),
        unreached=found.unreached,
        tried=found.tried,
    )


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
