"""The audit verified: of a tenant in the database, or of whatever an export holds.

Reads page by page or line by line, and keeps no more than the last row and the first faults of each tenant.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from domain.audit import AuditRow
from domain.base import Noun
from domain.chain import Chain, Fault, FaultKind, Head
from store.database import Database
from store.record import PAGE_ROWS, audit_page, unchained

FAULTS_MAX = 20  # of each tenant that are told; the rest is counted

Progress = Callable[[int], object]
Anchors = Mapping[int, str]


class Verified(Noun):
    """What was found of one tenant: its rows `first` to `head.n`, and the first faults; `faults_n` counts them all."""

    tenant_id: str
    rows: int
    first: int
    head: Head
    faults: tuple[Fault, ...]
    faults_n: int


@dataclass
class _Walk:
    chain: Chain
    first: int = 0
    faults: list[Fault] = field(default_factory=list)
    faults_n: int = 0

    def found(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self.faults_n += 1
            if len(self.faults) < FAULTS_MAX:
                self.faults.append(fault)

    def take(self, row: AuditRow) -> None:
        self.first = self.first or row.n
        self.found(self.chain.walk(row))

    def result(self) -> Verified:
        chain, faults = self.chain, tuple(self.faults)
        told = {"tenant_id": chain.tenant_id, "rows": chain.rows, "first": self.first, "head": chain.head}
        return Verified(**told, faults=faults, faults_n=self.faults_n)


async def verify_tenant(db: Database, tenant_id: str, anchors: Anchors, progress: Progress) -> Verified:
    """Return what is wrong with the audit of one tenant, from its first row to its head."""
    walk = _Walk(Chain(tenant_id, anchors))
    while True:
        page = await audit_page(db, tenant_id, walk.chain.head.n)
        for row in page.rows:
            walk.take(row)
        progress(len(page.rows))
        if len(page.rows) < PAGE_ROWS:
            break
    walk.found(walk.chain.end(page.head or Head()))
    for loose in await unchained(db, tenant_id):
        wrong = f"a {loose.kind} by {loose.actor}, row id {loose.id} of the database, stands outside the chain"
        walk.found([Fault(tenant_id=tenant_id, n=0, kind=FaultKind.UNCHAINED, wrong=wrong)])
    return walk.result()


class NotARow(ValueError):
    """A line is no row of an export; str() says which and why."""


class NoRows(ValueError):
    """There is nothing in an export to verify; str() says what is there instead."""


def verify_lines(
    lines: Iterable[bytes], tenant_id: str | None, anchors: Anchors, progress: Progress
) -> tuple[Verified, ...]:
    """Return what is wrong with each tenant's rows in an export, or with those of one. Raises NotARow or NoRows.

    An export may start behind the first row, and ends where it ends: an anchor tells what it should reach.
    """
    walks: dict[str, _Walk] = {}
    others: set[str] = set()
    for number, line in enumerate(lines, start=1):
        progress(1)
        row = _row(number, line)
        if tenant_id not in (None, row.tenant_id):
            others.add(row.tenant_id)
            continue
        walk = walks.get(row.tenant_id)
        if walk is None:
            walk = walks[row.tenant_id] = _Walk(Chain(row.tenant_id, anchors if tenant_id else {}))
        if walk.first == 0 and row.n > 1:
            walk.found(walk.chain.start_after(Head(n=row.n - 1, hash=row.previous)))
        walk.take(row)
    if not walks:
        whose = f"it has no row of {tenant_id}" if tenant_id else "it has no rows"
        raise NoRows(f"{whose}; it has rows of {', '.join(sorted(others))}" if others else f"{whose}: it is empty")
    for walk in walks.values():
        walk.found(walk.chain.end(None))
    return tuple(walk.result() for walk in walks.values())


def _row(number: int, line: bytes) -> AuditRow:
    try:
        return AuditRow.model_validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        fields = ", ".join(AuditRow.model_fields)
        told = f"line {number} is no row of the audit: {f'{where}: ' if where else ''}{first['msg']}"
        raise NotARow(f"{told}; each line is a JSON object with {fields}") from None
