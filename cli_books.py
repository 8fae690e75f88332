"""The commands on the books: compare ledger and business system, settle what a person found, hold and resume dispatch.

Mounted by `cli`; rooms are imported inside the commands.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli_duties import staff_who_may
from cli_ends import Databases, failed, in_databases, plainly, settings_of
from domain.catalogue.kinds import ActionKind

if TYPE_CHECKING:
    from store.cases import Case


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
    act: Annotated[Literal["hold", "resume"], typer.Argument(help="Stop dispatch, or let it go on.")],
    tenant: Annotated[str, typer.Option(help="The tenant's id.")],
    by: Annotated[str, typer.Option(metavar="STAFF_ID", help="Who answers for it; the policy says who may.")],
    reason: Annotated[str, typer.Option(help="Why; it stands in the audit.")],
    kind: Annotated[ActionKind | None, typer.Option(help="Only this kind of action. Default: everything.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="In the stack of this data folder.")] = None,
) -> None:
    """Hold a tenant's dispatch, or that of one kind of action, or let it go on; nothing held is sent from then on.

    Exit status: 0 it is so now, 1 refused or the database could not be reached, 2 an option is wrong.
    """
    from domain.permission import Tool
    from store.cases import cases_open
    from store.switches import Switches, switches, turn

    if not reason.strip() or not reason.isprintable():
        raise failed("dispatch", ValueError("--reason says why, in printable characters"), 2)

    async def work(at: Databases) -> "tuple[bool, Switches, list[Case]]":
        tool = Tool.STOP_DISPATCH if act == "hold" else Tool.RESUME_DISPATCH
        who = await staff_who_may(at.db, tenant, by, tool, kind.value if kind else "")
        changed = await turn(at.db, tenant, kind, stopped=act == "hold", by=who, why=reason.strip())
        return changed, await switches(at.db, tenant), await cases_open(at.db, tenant)

    changed, now, waiting = in_databases("dispatch", data_dir, work)
    what = f"dispatch of {kind.value}" if kind else "dispatch"
    typer.echo(f"{tenant}: {what} {'is held' if act == 'hold' else 'goes on'}{'' if changed else ', as before'}")
    if act == "resume" and kind and now.everything:
        typer.echo(f"all dispatch is still held: {_resume(tenant)}")
    for still in now.kinds if act == "resume" else ():
        typer.echo(f"dispatch of {still.value} is still held: {_resume(tenant)} --kind {still.value}")
    if waiting and act == "resume":
        typer.echo(f"{len(waiting)} cases are open: interlock cases --tenant {tenant}")


def _resume(tenant: str) -> str:
    return f"interlock dispatch resume --tenant {tenant} --by STAFF_ID --reason WHY"


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

    from connectors.shop import CONTRACT
    from domain.action import ActionState
    from language.ledger_words import LedgerWords
    from store.settlement import settle_by_person

    if external_id is not None and outcome == "rejected":
        raise failed("settle", ValueError("--external-id names the effect of an action that is confirmed"), 2)
    if external_id is not None and not (external_id.isprintable() and 1 <= len(external_id.strip()) <= 200):
        raise failed("settle", ValueError("--external-id is 1 to 200 printable characters"), 2)

    async def work(at: Databases) -> ActionState:
        found, ident = ActionState(outcome), external_id.strip() if external_id else None
        return await settle_by_person(at.db, tenant, operation_id, found, by, ident, CONTRACT, LedgerWords(), at.now)

    typer.echo(f"{operation_id} is {in_databases('settle', data_dir, work).value}")


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

    from domain.refusal import NotFound
    from store.cases import cases_open, close_case
    from store.comparison import all_tenants
    from store.switches import Switches, switches

    if (close is None) != (by is None):
        raise failed("cases", ValueError("--close and --by go together"), 2)

    async def listing(at: Databases) -> "list[Case]":
        known = await all_tenants(at.relay)
        if tenant is not None and tenant not in known:
            raise NotFound("There is no such tenant.")
        return [c for t in ([tenant] if tenant else known) for c in await cases_open(at.db, t)]

    async def closing(at: Databases) -> "Case":
        found = [c.tenant_id for c in await listing(at) if c.case_id == close]
        of = found[0] if found else tenant
        if of is None:
            raise NotFound("There is no such open case.")
        return await close_case(at.db, of, close or "", by or "", at.now)

    if close is not None:
        closed = in_databases("cases", data_dir, closing)
        typer.echo(f"{closed.kind} {closed.operation_id} of {closed.tenant_id} is closed")
        return

    async def held(at: Databases) -> "dict[str, Switches]":
        return {t: await switches(at.db, t) for t in await all_tenants(at.relay) if tenant in (None, t)}

    waiting = in_databases("cases", data_dir, listing)
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
    for t, stopped in in_databases("cases", data_dir, held).items():
        if stopped.everything:
            typer.echo(f"{t}: dispatch is held; {_resume(t)}")
        for kind in stopped.kinds:
            typer.echo(f"{t}: dispatch of {kind.value} is held; {_resume(t)} --kind {kind.value}")
