"""`interlock doctor`: looks at every part of an installation and says how to mend what is wrong.

This module gathers and prints; the looking is done in `stack.doctor_checks`.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class State(StrEnum):
    """How a part is."""

    GOOD = "good"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """One part of an installation, how it is, and how to mend it where it is not well."""

    part: str
    state: State
    detail: str
    mend: str = ""


@dataclass(frozen=True)
class Installation:
    """Where the parts of an installation are said to be."""

    database_url: str
    temporal_address: str
    temporal_namespace: str
    temporal_tls: bool
    temporal_api_key: str | None
    shop_url: str
    jwks: str
    data_dir: Path
    migration_head: str | None
    unknown_variables: tuple[str, ...] = ()
    policies_not_loading: Callable[[], Sequence[str] | None] | None = None  # a sentence each; None: it cannot be said


Check = Callable[[Installation], list[Finding]]


def good(part: str, detail: str) -> Finding:
    """Return that `part` is well."""
    return Finding(part, State.GOOD, detail)


def fault(part: str, detail: str, mend: str) -> Finding:
    """Return that `part` is not well, with what mends it."""
    return Finding(part, State.FAULT, detail, mend)


def warning(part: str, detail: str, mend: str) -> Finding:
    """Return that `part` works but deserves a look."""
    return Finding(part, State.WARNING, detail, mend)


def examine(installation: Installation, checks: Sequence[Check] | None = None) -> list[Finding]:
    """Return the findings of every check, in a fixed order; a check that breaks is a finding itself."""
    from stack.doctor_checks import CHECKS

    findings: list[Finding] = []
    for check in CHECKS if checks is None else checks:
        try:
            findings += check(installation)
        except Exception as error:  # noqa: BLE001  # whatever breaks a check is what its reader wants to know
            name = check.__name__.replace("_", " ")
            findings.append(fault(name, f"the check broke: {type(error).__name__}: {error}", "Report this."))
    return findings


def report(findings: Sequence[Finding], as_json: bool) -> int:
    """Print the findings; returns 0 where none is a fault, 1 otherwise."""
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    elif sys.stdout.isatty():
        _print_table(findings)
    else:
        for line in findings:
            print(f"{line.state:<8} {line.part:<16} {line.detail}" + (f"\n{'':26}{line.mend}" if line.mend else ""))
    return int(any(finding.state is State.FAULT for finding in findings))


def _print_table(findings: Sequence[Finding]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    colours = {State.GOOD: "green", State.WARNING: "yellow", State.FAULT: "red"}
    table = Table("", "Part", "Found, and how to mend it", box=None, pad_edge=False)
    for finding in findings:
        mend = f"\n[dim]→ {escape(finding.mend)}[/]" if finding.mend else ""
        table.add_row(f"[{colours[finding.state]}]{finding.state}[/]", finding.part, escape(finding.detail) + mend)
    Console().print(table)
