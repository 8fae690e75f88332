"""What the commands over the record have in common: whose, since when, in which database.

Rooms are imported inside the functions, so that a small command starts at once.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli_ends import Databases, failed, in_databases

if TYPE_CHECKING:
    from store.database import Database

Found = TypeVar("Found")

TenantOption = Annotated[str | None, typer.Option(help="Of this tenant only.")]
SinceOption = Annotated[
    str | None,
    typer.Option(metavar="T", help="Only from then on: 2026-01-31, 2026-01-31T12:00:00Z, 36h or 7d. Default: all."),
]
DataDirOption = Annotated[Path | None, typer.Option(help="In the stack of this data folder.")]


def since_when(command: str, text: str | None) -> datetime | None:
    """Return the moment that was asked for; ends the command where it is none."""
    from datetime import UTC

    from auditing.since import moment_of

    try:
        return None if text is None else moment_of(text, datetime.now(UTC))
    except ValueError as error:
        raise failed(command, ValueError(f"--since: {error}"), 2) from None


def warn_of_unread(command: str, folder: Path) -> None:
    """Say on standard error what in a bundle's folder is not read: a rule in a misnamed file decides nothing."""
    from policy.bundle import unread

    for name in unread(folder):
        why = "only manifest.json, schema.cedarschema, cases.jsonl and *.cedar are"
        typer.echo(f"interlock {command}: warning: {folder / name} is not read; {why}", err=True)


def in_database(
    command: str,
    tenant: str | None,
    data_dir: Path | None,
    work: "Callable[[Database, Sequence[str]], Awaitable[Found]]",
) -> Found:
    """Run `work` over the tenants that were asked for; a database that is away ends the command."""

    async def of_tenants(at: Databases) -> Found:
        from domain.refusal import NotFound
        from store.comparison import all_tenants

        known = await all_tenants(at.relay)
        if tenant is not None and tenant not in known:
            raise NotFound(f"There is no tenant {tenant!r}; there are {', '.join(known) or 'none'}.")
        return await work(at.db, known if tenant is None else [tenant])

    return in_databases(command, data_dir, of_tenants)
