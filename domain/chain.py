"""A walk along one tenant's audit, row by row, that finds where it was touched.

Pure, and of constant size however long the chain: it knows the last row and the anchors still to come.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from domain.audit import GENESIS, AuditRow, hash_of
from domain.base import Noun

SHIFT_MAX = 50  # by so many places a row is looked for elsewhere, to tell what was dropped or inserted before it


class FaultKind(StrEnum):
    """What is wrong with a chain."""

    CHANGED = "changed"  # a row does not say what was hashed
    MOVED = "moved"  # a row is not where it was written
    MISSING = "missing"  # rows are not there
    REPEATED = "repeated"  # a number comes twice, or after a later one
    UNTIED = "untied"  # a row names another row before it than the one that stands there
    UNCHAINED = "unchained"  # a row has no place in the chain
    HEAD = "head"  # the chain does not end where it is said to end
    ANCHOR = "anchor"  # a row is not the one that was noted elsewhere


class Fault(Noun):
    """One place at which a tenant's audit is not as it was written; `n` is the row's number."""

    tenant_id: str
    n: int
    kind: FaultKind
    wrong: str

    def __str__(self) -> str:
        return f"{self.tenant_id} n={self.n}: {self.wrong}"


class Head(Noun):
    """The last row of a chain; n is 0 before the first."""

    n: int = 0
    hash: str = GENESIS


class Chain:
    """The chain of one tenant, walked in the order of `n`. `anchors` are hashes noted elsewhere, by number."""

    def __init__(self, tenant_id: str, anchors: Mapping[int, str]) -> None:
        self.tenant_id = tenant_id
        self.head = Head()
        self.rows = 0
        self._anchors = dict(sorted(anchors.items()))
        self._tied = True  # whether the row before the next one is there
        self._shift = 0  # by how many places the rows are away from where they were written

    def start_after(self, before: Head) -> Iterator[Fault]:
        """Start behind row `before`, on its word; yield what is wrong where that row was noted elsewhere."""
        self.head = before
        yield from self._anchored(before)

    def walk(self, row: AuditRow) -> Iterator[Fault]:
        """Take the next row; yield what is wrong with it."""
        self.rows += 1
        due = self.head.n + 1
        if row.n < due:
            yield self._fault(
                row.n, FaultKind.REPEATED, f"it comes again, or too late: row {self.head.n} was before it"
            )
            return
        if row.n > due:
            self._tied = False
            yield self._fault(due, FaultKind.MISSING, f"{_rows(due, row.n - 1)} not there")
        yield from self._hashed(row)
        self.head, self._tied = Head(n=row.n, hash=row.hash), True
        yield from self._anchored(self.head)

    def end(self, head: Head | None) -> Iterator[Fault]:
        """Yield what is wrong with where it ends: `head` is where the database says that it does, if it says so."""
        last = self.head
        if head is not None and head.n > last.n:
            wrong = f"{_rows(last.n + 1, head.n)} not there: the chain was cut off"
            yield self._fault(last.n + 1, FaultKind.MISSING, wrong)
        elif head is not None and head != last:
            wrong = f"the head of the chain is row {head.n}, {_short(head.hash)}: it did not move with this row"
            yield self._fault(last.n, FaultKind.HEAD, wrong)
        for n, noted in self._anchors.items():
            wrong = f"the row noted elsewhere as {_short(noted)} is not there; the last one is row {last.n}"
            yield self._fault(n, FaultKind.ANCHOR, wrong)

    def _hashed(self, row: AuditRow) -> Iterator[Fault]:
        before = self.head.hash if self._tied else row.previous
        if not before:  # after a gap, nobody knows
            return
        if row.previous != before:
            yield self._fault(row.n, FaultKind.UNTIED, f"it names another row before it than row {self.head.n}")
        places = (row.n + self._shift, *_near(row.n))
        was = next((n for n in places if row.hash and hash_of(row, before, n) == row.hash), None)
        if was is None:
            wrong = (
                f"its hash is not that of what it says after row {row.n - 1}: one of the two was changed or put there"
            )
            yield self._fault(row.n, FaultKind.CHANGED, wrong)
        elif was - row.n != self._shift:
            happened = "dropped" if was - row.n > self._shift else "inserted"
            self._shift = was - row.n
            wrong = f"it was written as row {was}: something was {happened} before it"
            yield self._fault(row.n, FaultKind.MOVED, wrong)

    def _anchored(self, row: Head) -> Iterator[Fault]:
        noted = self._anchors.pop(row.n, row.hash)
        if noted != row.hash:
            yield self._fault(row.n, FaultKind.ANCHOR, f"it is {_short(row.hash)}, and was noted as {_short(noted)}")

    def _fault(self, n: int, kind: FaultKind, wrong: str) -> Fault:
        return Fault(tenant_id=self.tenant_id, n=n, kind=kind, wrong=wrong)


def _near(n: int) -> Iterator[int]:
    """The numbers near `n`, the nearest first."""
    yield n
    for shift in range(1, SHIFT_MAX + 1):
        yield from (n + shift, n - shift)


def _rows(first: int, last: int) -> str:
    return f"row {first} is" if first == last else f"rows {first} to {last} are"


def _short(digest: str) -> str:
    return f"{digest[:12]}…" if len(digest) > 12 else digest
