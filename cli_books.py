"""The commands on the books: compare ledger and business system, settle what a person found, hold and resume dispatch.

Mounted by `cli`; rooms are imported inside the commands.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from cli_ends import failed, plainly, settings_of

if TYPE_CHECKING:
    from store.cases import Case
    from store.database import Database

Found = TypeVar("Found")


def reconcile(
    hours: Annotated[float, typer.Option(min=0.1, help="How far back to look.")] = 26,
    data_dir: Annotated[Path | None, typer.Option(help="Reconcile the stack of this data folder.")] = None,
    after_restore: Annotated[
        bool, typer.Option(help="Postgres was restored: hold all dispatch until its books agree again.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array, one object a tenant.")] = False,
) -> None:
    """Compare the ledger with the business system, both ways; each difference becomes a case with a person.

    Exit status: 0 the books agree, 1 something could not be reached, 3 they differ.
    """
    import asyncio
    import json
    from datetime import UTC, datetime, timedelta

    from sqlalchemy.exc import SQLAlchemyError

    from activities.comparing import Compared, Comparing
    from domain.fault import OperationalFault
    from store.database import Database
    from worker import shop_of

    told = settings_of("reconcile", data_dir)

    async def run() -> list[Compared]:
        db, relay_db, shop = Database(told.database_url, 2), Database(told.relay_url, 1), shop_of(told)
        try:
            since = datetime.now(UTC) - timedelta(hours=hours)
            books = Comparing(db, relay_db, shop)
            return await (books.after_restore(since) if after_restore else books.compare_all(since))
        finally:
            await shop.close()
            await db.close()
            await relay_db.close()

    try:
        compared = asyncio.run(run())
    except (SQLAlchemyError, OperationalFault) as fault:
        if after_restore:
            typer.echo("what was not compared stays on hold: interlock dispatch resume, once its books agree", err=True)
        shop = f"the business system at {told.shop_url} cannot be read ({fault}); check INTERLOCK_SHOP_URL and its keys"
        why = ValueError(shop) if isinstance(fault, OperationalFault) else plainly(fault)
        raise failed("reconcile", why, 1) from None
    if as_json:
        typer.echo(json.dumps([c.model_dump(mode="json") for c in compared]))
    else:
        for c in compared:
            typer.echo(
                f"{c.tenant_id}: {c.effects} effects, {c.actions} sent actions, {len(c.differences)} differences"
            )
            for d in c.differences:
                typer.echo(f"  {d.kind.value} {d.operation_id}: ledger {d.ledger}, business system {d.effect}")
    if any(c.differences for c in compared):
        raise typer.Exit(3)


def dispatch(
    act: Annotated[Literal["hold", "resume"], typer.Argument(help="Stop all dispatch of a tenant, or let it go on.")],
    tenant: Annotated[str, typer.Option(help="The tenant's id.")],
    data_dir: Annotated[Path | None, typer.Option(help="In the stack of this data folder.")] = None,
) -> None:
    """Hold a tenant's dispatch, or let it go on; nothing is sent to its business system while it is held.

    Exit status: 0 it is so now, 1 there is no such tenant or the database could not be reached, 2 an option is wrong.
    """
    from store.cases import cases_open
    from store.comparison import hold_dispatch

    async def work(db: "Database", _: "Database") -> "tuple[bool, list[Case]]":
        return await hold_dispatch(db, tenant, held=act == "hold"), await cases_open(db, tenant)

    changed, waiting = _in_database("dispatch", data_dir, work)
    typer.echo(f"{tenant}: dispatch {'is held' if act == 'hold' else 'goes on'}{'' if changed else ', as before'}")
    if waiting and act == "resume":
        typer.echo(f"{len(waiting)} cases are open: interlock cases --tenant {tenant}")


def settle(
    operation_id: Annotated[str, typer.Argument(metavar="OPERATION_ID", help="An action that is unknown.")],
    tenant: Annotated[str, typer.Option(help="The tenant's id.")],
    outcome: Annotated[
        Literal["confirmed", "rejected"],
        typer.Option("--as", help="What was found outside: it took effect, or it did not and no longer can."),
    ],
    by: Annotated[str, typer.Option(metavar="STAFF_ID", help="Who answers for it: a manager, finance or an admin.")],
    external_id: Annotated[str | None, typer.Option(help="The effect's id in the business system.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="In the stack of this data folder.")] = None,
) -> None:
    """Record what a person has found outside of an unknown action: the log tells it, its case ends, its work goes on.

    Exit status: 0 recorded, 1 refused or the database could not be reached, 2 an option is wrong, 3 too early to be
    recorded as rejected.
    """
    from datetime import UTC, datetime

    from connectors.shop import CONTRACT
    from domain.action import ActionState
    from language.ledger_words import LedgerWords
    from store.settlement import settle_by_person

    if external_id is not None and outcome == "rejected":
        raise failed("settle", ValueError("--external-id names the effect of an action that is confirmed"), 2)
    if external_id is not None and not (external_id.isprintable() and 1 <= len(external_id.strip()) <= 200):
        raise failed("settle", ValueError("--external-id is 1 to 200 printable characters"), 2)

    async def work(db: "Database", _: "Database") -> ActionState:
        found, now, ident = ActionState(outcome), datetime.now(UTC), external_id.strip() if external_id else None
        return await settle_by_person(db, tenant, operation_id, found, by, ident, CONTRACT, LedgerWords(), now)

    typer.echo(f"{operation_id} is {_in_database('settle', data_dir, work).value}")


def cases(
    tenant: Annotated[str | None, typer.Option(help="Of this tenant only.")] = None,
    close: Annotated[str | None, typer.Option(metavar="CASE_ID", help="Close this difference between books.")] = None,
    by: Annotated[
        str | None, typer.Option(metavar="STAFF_ID", help="Who closes it: a manager, finance, admin.")
    ] = None,
    data_dir: Annotated[Path | None, typer.Option(help="In the stack of this data folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array of the open cases.")] = False,
) -> None:
    """List the open cases, oldest first, or close one that somebody has dealt with.

    An unknown action is no difference: its case ends when it is settled. Closing lifts no hold.
    Exit status: 0 done, 1 refused or the database could not be reached, 2 an option is wrong.
    """
    import json
    from datetime import UTC, datetime

    from domain.refusal import NotFound
    from store.cases import cases_open, close_case
    from store.comparison import all_tenants, dispatch_held

    if (close is None) != (by is None):
        raise failed("cases", ValueError("--close and --by go together"), 2)

    async def listing(db: "Database", relay_db: "Database") -> "list[Case]":
        known = await all_tenants(relay_db)
        if tenant is not None and tenant not in known:
            raise NotFound("There is no such tenant.")
        return [c for t in ([tenant] if tenant else known) for c in await cases_open(db, t)]

    async def closing(db: "Database", relay_db: "Database") -> "Case":
        found = [c.tenant_id for c in await listing(db, relay_db) if c.case_id == close]
        of = found[0] if found else tenant
        if of is None:
            raise NotFound("There is no such open case.")
        return await close_case(db, of, close or "", by or "", datetime.now(UTC))

    if close is not None:
        closed = _in_database("cases", data_dir, closing)
        typer.echo(f"{closed.kind} {closed.operation_id} of {closed.tenant_id} is closed")
        return

    async def held(db: "Database", relay_db: "Database") -> list[str]:
        return [t for t in await all_tenants(relay_db) if tenant in (None, t) and await dispatch_held(db, t)]

    waiting = _in_database("cases", data_dir, listing)
    if as_json:
        typer.echo(json.dumps([c.model_dump(mode="json") for c in waiting]))
        return
    for c in waiting:
        told = (
            f": ledger {c.detail.get('ledger')}, business system {c.detail.get('effect')}"
            if "violates" in c.detail
            else ""
        )
        typer.echo(f"{c.case_id} {c.tenant_id} {c.kind} {c.operation_id} since {c.opened_at:%Y-%m-%d %H:%M}{told}")
    typer.echo(f"{len(waiting)} open cases")
    for t in _in_database("cases", data_dir, held):
        typer.echo(f"{t}: dispatch is held; interlock dispatch resume --tenant {t}")


def _in_database(
    command: str, data_dir: Path | None, work: "Callable[[Database, Database], Awaitable[Found]]"
) -> Found:
    """Run `work` with the app's and the relay's database; a refusal or a database that is away ends the command."""
    import asyncio

    from sqlalchemy.exc import SQLAlchemyError

    from domain.refusal import Refusal
    from store.database import Database

    told = settings_of(command, data_dir)

    async def run() -> Found:
        db, relay_db = Database(told.database_url, 2), Database(told.relay_url, 1)
        try:
            return await work(db, relay_db)
        finally:
            await db.close()
            await relay_db.close()

    try:
        return asyncio.run(run())
    except Refusal as no:
        raise failed(command, no, 3 if "wait_s" in no.fields else 1) from None
    except SQLAlchemyError as fault:
        raise failed(command, plainly(fault), 1) from None
