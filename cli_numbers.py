"""`interlock numbers`: the measures of the service, one organisation after another.

Mounted by `cli`; rooms are imported inside the command.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli_record import DataDirOption, TenantOption, in_database

if TYPE_CHECKING:
    from domain.measures import Measure, Value
    from store.database import Database
    from store.numbers import By

DAYS_MAX = 93


def numbers(
    tenant: TenantOption = None,
    days: Annotated[
        int, typer.Option(min=1, max=DAYS_MAX, help="Conversations that began on so many days, today the last.")
    ] = 14,
    by: Annotated[
        Literal["intent", "language", "stage", "channel"] | None, typer.Option(help="Told apart by this, too.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print every measure with its count and its 95 % interval; docs/numbers.md says what each counts.

    Exit status: 0 printed, 1 the database cannot be read, 2 an option is wrong.
    """
    import json

    from store.numbers import By

    found = in_database("numbers", tenant, data_dir, lambda db, tenants: _read(db, tenants, days, By(by or "intent")))
    groups = found if by is not None else {name: measures for name, measures in found.items() if name[1] is None}
    if as_json:
        rows = [
            {"tenant": name[0], "group": name[1], "measures": [m.model_dump(mode="json") for m in measures]}
            for name, measures in groups.items()
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    for (of, group), measures in groups.items():
        typer.echo(f"\n{of}{f', {by} {group}' if group else ''}: conversations of the last {days} days")
        for one in measures:
            if one.n:
                typer.echo(f"  {one.figure.value.replace('_', ' '):<22} {_told(one)}")


async def _read(
    db: "Database", tenants: Sequence[str], days: int, by: "By"
) -> "dict[tuple[str, str | None], list[Measure]]":
    from datetime import UTC, datetime, timedelta

    from domain.measures import grouped, overall
    from store.desk import read_desk
    from store.numbers import Asked, observations

    now = datetime.now(UTC)
    found: dict[tuple[str, str | None], list[Measure]] = {}
    for tenant_id in tenants:
        window = timedelta(hours=(await read_desk(db, tenant_id)).document.recontact_hours)
        first = now.date() - timedelta(days=days - 1)
        observed = await observations(db, tenant_id, Asked.of_days(first, now.date(), by, window, now))
        found[(tenant_id, None)] = overall(observed)
        for group, measures in sorted(grouped(observed, lambda one: one.group).items()):
            found[(tenant_id, group)] = list(measures.values())
    return found


def _told(measure: "Measure") -> str:
    """A measure on one line: `0.812 [0.570, 0.934]  n 16`."""
    p95 = f"  p95 {_value(measure.p95)}" if measure.p95 is not None else ""
    return f"{_value(measure.value)} {measure.unit.value}{p95}  n {measure.n}"


def _value(value: "Value") -> str:
    interval = f" [{_number(value.low)}, {_number(value.high)}]" if (value.low, value.high) != (None, None) else ""
    return f"{_number(value.value)}{interval}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.3f}"
