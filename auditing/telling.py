"""A backtest told to a person: what would come out otherwise, by kind and amount, why, and for which decisions.

Knows no bundle and no database, only the report.
"""

from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from auditing.report import Case, FlipRow, Report
from policy.examining.tally import Direction

WIDTH_IN_A_PIPE = 160  # columns; a terminal has its own
_COLOURS = {Direction.LOOSER: "yellow", Direction.STRICTER: "cyan", Direction.OTHER: "white"}
_USES = {None: "proposals and reservations", "propose": "proposals", "reserve": "reservations"}


class Telling:
    """Tells reports on a console, by default on standard output; `decimals` are those of a currency."""

    def __init__(self, decimals: Callable[[str], int], console: Console | None = None) -> None:
        self._decimals, self._console = decimals, console or Console()
        if not self._console.is_terminal:
            self._console.width = WIDTH_IN_A_PIPE

    def tell(self, report: Report) -> None:
        """Print the whole of it."""
        self._open(report)
        if report.flips:
            self._console.print(self._table(report))
        for row in report.flips:
            self._why(row)
        if report.unjudged:
            self._say("\nCannot be judged again", "bold")
            for one in report.unjudged:
                self._say(f"  {one.decisions:>9,}  {one.kind or 'any'}: {one.why}")
        if report.interrupted:
            self._say("\nStopped before the end. To judge the rest:", "bold")
            for tenant in report.tenants:
                self._say(f"  --tenant {tenant} --after {report.through.get(tenant, report.after)}")

    def _open(self, report: Report) -> None:
        since = f" since {report.since:%Y-%m-%d %H:%M %Z}" if report.since else ""
        then = "what was decided" if report.against is None else report.against
        unjudged = report.decisions - report.same - report.flipped
        rate = f", {report.decisions / report.seconds:,.0f} a second" if report.seconds > 0 else ""
        of = f"{_USES[report.use]} of {', '.join(report.tenants)}{since}"
        self._say(f"{then} → {report.under}", "bold")
        self._say(f"{report.decisions:,} decisions on record, {of}; {report.seconds:.1f} s{rate}")
        self._say(
            f"{report.same:,} come out the same ({report.same_by_other_rules:,} by other rules), "
            f"{report.flipped:,} otherwise, {unjudged:,} cannot be judged again"
        )

    def _table(self, report: Report) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("kind", "amount", "then", "now", ""):
            table.add_column(name, no_wrap=name in ("kind", ""))
        for name in ("decisions", "operations", "sum"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in report.flips:
            direction = f"[{_COLOURS[row.direction]}]{row.direction.value}[/]"
            told = (row.kind, self._band(row), str(row.then), str(row.now), direction)
            total = self._money(row.amount_minor, row.currency) if row.currency else "–"
            table.add_row(*told, f"{row.decisions:,}", f"{row.operations:,}", total)
        return table

    def _why(self, row: FlipRow) -> None:
        self._say(f"\n{row.kind}, {self._band(row)}: {row.then} → {row.now}", "bold")
        for cause in row.causes:
            then, now = ", ".join(cause.then), ", ".join(cause.now)
            self._say(f"  {cause.decisions:>9,}  {f'by {then} as then' if then == now else f'{then} → {now}'}")
        if row.other_causes:
            self._say(f"  {row.other_causes:>9,}  by other rules")
        for case in row.examples:
            self._say(f"             such as {self._case(case, row.currency)}")

    def _case(self, case: Case, currency: str) -> str:
        amount = "" if case.amount_minor is None else f" {self._money(case.amount_minor, currency)}"
        return f"{case.operation_id} ({case.use}{amount}, {case.at[:16]}Z, {case.tenant_id} n={case.n})"

    def _band(self, row: FlipRow) -> str:
        low, high, currency = row.low_minor, row.high_minor, row.currency
        if low is not None and high is not None:
            return f"{self._plain(low, currency)}–{self._money(high, currency)}"
        if high is not None:
            return f"up to {self._money(high, currency)}"
        if low is not None:
            return f"{self._plain(low, currency)} and more {currency}"
        return f"any {currency}" if currency else "–"

    def _money(self, minor: int, currency: str) -> str:
        return f"{self._plain(minor, currency)} {currency}"

    def _plain(self, minor: int, currency: str) -> str:
        decimals = self._decimals(currency)
        return f"{minor / 10**decimals:,.{decimals}f}"

    def _say(self, line: str, style: str | None = None) -> None:
        self._console.print(line, style=style, highlight=False, soft_wrap=True, markup=False)
