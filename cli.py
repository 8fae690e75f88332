"""The command line: each command is a small function that reads its options and hands them to a room.

Rooms are imported inside the commands, so that a small command such as `interlock token` starts at once.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

if TYPE_CHECKING:
    from settings import Settings
    from store.cases import Case
    from store.database import Database

Found = TypeVar("Found")

app = typer.Typer(
    name="interlock",
    help="Interlock: a customer-support agent that acts on accounts and money without being what decides.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

DataDirOption = Annotated[Path, typer.Option("--data-dir", help="Folder of the stack's data.", show_default=True)]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")]


@app.command()
def dev(
    data_dir: DataDirOption = Path(".interlock"),
    api_port: Port = 8080,
    shop_port: Port = 8090,
    temporal_port: Port = 7233,
    temporal_ui_port: Port = 8233,
    postgres_port: Port = 5434,
    ready_file: Annotated[
        Path | None, typer.Option(help="Gets every address and pid once all is ready. Default: DATA_DIR/ready.json.")
    ] = None,
    tour: Annotated[bool, typer.Option("--tour", help="Play the guided tour, then stay up.")] = False,
    tour_only: Annotated[
        bool, typer.Option("--tour-only", help="Play the guided tour, then end with its exit status.")
    ] = False,
    database_url: Annotated[
        str | None, typer.Option(help="Use this Postgres, as the app role, instead of the embedded one.")
    ] = None,
    owner_url: Annotated[str | None, typer.Option(help="The same Postgres, as the owner of the tables.")] = None,
    relay_url: Annotated[
        str | None, typer.Option(help="The same Postgres, as the relay role. Default: the owner.")
    ] = None,
    ui: Annotated[bool, typer.Option("--ui/--no-ui", help="Serve Temporal's UI.")] = True,
) -> None:
    """Run everything on this machine: Postgres, Temporal, the demo shop, worker and api.

    Exit status: 0 stopped when asked, 1 a child would not start, 2 a port is taken or an option is wrong.
    """
    import settings
    from stack.addresses import Tour, Wishes
    from stack.dev import run

    wishes = Wishes(
        data_dir=data_dir,
        api_port=api_port,
        shop_port=shop_port,
        temporal_port=temporal_port,
        temporal_ui_port=temporal_ui_port,
        postgres_port=postgres_port,
        ready_file=ready_file,
        tour=Tour.ONLY if tour_only else Tour.PLAY if tour else Tour.NONE,
        database_url=database_url,
        owner_url=owner_url,
        relay_url=relay_url,
        ui=ui,
    )
    raise typer.Exit(run(wishes, settings.inherited_environment()))


@app.command()
def token(
    kind: Annotated[Literal["customer", "staff", "anonymous"], typer.Argument(help="Who the token is for.")],
    tenant: Annotated[str, typer.Option(help="The tenant's id.")],
    ident: Annotated[str, typer.Option("--id", help="The customer's, staff member's or visitor's id.")],
    data_dir: DataDirOption = Path(".interlock"),
    expires_in: Annotated[int, typer.Option(metavar="SECONDS", help="How long the token is good for.")] = 28_800,
) -> None:
    """Print a token for the dev stack, and nothing else.

    Exit status: 0 printed, 1 the data folder has no signing key, 2 an option is wrong.
    """
    from stack import keys
    from stack.faults import StackFault
    from stack.layout import DataDir

    try:
        typer.echo(keys.mint(DataDir.at(data_dir), kind, tenant, ident, expires_in))
    except StackFault as fault:
        raise _failed("token", fault, fault.exit_code) from None


@app.command()
def doctor(
    data_dir: Annotated[
        Path | None, typer.Option(help="Examine the stack of this data folder, not the settings of the environment.")
    ] = None,
    ready: Annotated[Path | None, typer.Option(help="The same, by the ready file of a running stack.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array of findings.")] = False,
) -> None:
    """Say what is wrong with an installation, and how to mend it.

    Exit status: 0 all is well, 1 something is not.
    """
    import settings
    from stack.doctor import Installation, examine, report
    from stack.environment import recorded
    from stack.faults import StackFault
    from stack.layout import DataDir
    from stack.ready import data_dir_of

    try:
        folder = data_dir_of(ready) if ready else data_dir
        known = recorded(DataDir.at(folder)) if folder else None
        told = settings.load(known)
    except StackFault as fault:
        raise _failed("doctor", fault, fault.exit_code) from None
    except settings.SettingsFault as fault:
        raise _failed("doctor", fault, 1) from None
    installation = Installation(
        database_url=told.database_url,
        temporal_address=told.temporal_address,
        temporal_namespace=told.temporal_namespace,
        temporal_tls=told.temporal_tls,
        temporal_api_key=told.temporal_api_key.get_secret_value() if told.temporal_api_key else None,
        shop_url=told.shop_url,
        jwks=told.jwks,
        data_dir=told.data_dir,
        migration_head=_migration_head(),
        unknown_variables=tuple(settings.unknown_variables(settings.inherited_environment())),
    )
    raise typer.Exit(report(examine(installation), as_json))


@app.command()
def migrate() -> None:
    """Bring the database to the newest schema; safe to run again.

    Exit status: 0 it is there, 1 it could not be reached or changed.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from store.migrate import migrate as run

    told = _settings("migrate")
    try:
        typer.echo(f"schema {run(told.owner_url, told.database_url, told.relay_url)}")
    except SQLAlchemyError as fault:
        raise _failed("migrate", _plainly(fault), 1) from None


@app.command()
def seed(
    reset: Annotated[bool, typer.Option("--reset", help="Erase every tenant and reset the demo shop first.")] = False,
    data_dir: Annotated[Path | None, typer.Option(help="Seed the stack of this data folder.")] = None,
) -> None:
    """Create the demo's tenants, staff, articles and policy, and a past, so that no page is empty.

    Exit status: 0 done (again: nothing to do), 1 the database or the shop could not be reached.
    """
    import asyncio

    import httpx
    from sqlalchemy.exc import SQLAlchemyError

    from seeding.run import Seeded
    from seeding.run import seed as fill
    from store.database import Database
    from worker import shop_of

    told = _settings("seed", data_dir)

    async def run() -> Seeded:
        owner, db, shop = Database(told.owner_url, 2), Database(told.database_url, 4), shop_of(told)
        try:
            return await fill(owner, db, shop, told.shop_url, reset=reset, progress=lambda _: None)
        finally:
            await shop.close()
            await db.close()
            await owner.close()

    try:
        done = asyncio.run(run())
    except (SQLAlchemyError, httpx.HTTPError) as fault:
        raise _failed("seed", _plainly(fault), 1) from None
    past = done.alive
    typer.echo(f"tenants: {', '.join(done.tenants)}")
    if past is None:
        typer.echo("conversations were there already; nothing was added (--reset begins again)")
    else:
        typer.echo(
            f"{past.finished} finished conversations, {past.handoffs} waiting handoffs, "
            f"{past.approvals} waiting approvals, {past.unknown} unknown action"
        )


@app.command()
def worker(
    ready_file: Annotated[Path | None, typer.Option(help="Created once the worker polls.")] = None,
) -> None:
    """Run the Temporal worker: workflows, activities, the outbox relay.

    Exit status: 0 stopped when asked, 1 the settings are wrong or something failed.
    """
    from worker import run

    told = _settings("worker")
    _configure_logs(told)
    run(told, ready_file)


@app.command()
def api() -> None:
    """Serve the HTTP contract.

    Exit status: 0 stopped when asked, 1 the settings are wrong, 2 the port is taken.
    """
    from api import run

    told = _settings("api")
    _configure_logs(told)
    raise typer.Exit(run(told))


@app.command()
def recover(
    data_dir: Annotated[Path | None, typer.Option(help="Recover the stack of this data folder.")] = None,
) -> None:
    """Rebuild all open work from Postgres after Temporal's store was lost or set back; safe to run again.

    Exit status: 0 everything open has its workflow, 1 something could not be reached.
    """
    import asyncio

    from rich.progress import Progress

    from relay.recover import Recovered
    from relay.recover import recover as rebuild
    from relay.temporal import Waker, connect
    from store.database import Database
    from worker import address_of

    told = _settings("recover", data_dir)

    async def run(bar: Progress) -> Recovered:
        row = bar.add_task("open work", total=None)
        db = Database(told.relay_url, 3)
        try:
            waker = Waker(await connect(address_of(told)), told.task_queue, int(told.conversation_idle_close_s))
            return await rebuild(db, waker, lambda n: bar.advance(row, n))
        finally:
            await db.close()

    with Progress() as bar:
        done = asyncio.run(run(bar))
    typer.echo(f"{done.conversations} conversations and {done.actions} actions have their workflows")
    if done.failed:
        raise _failed("recover", RuntimeError(f"{done.failed} could not be reached; run it again"), 1)


@app.command()
def replay(
    ident: Annotated[
        str, typer.Argument(metavar="ID", help="A conversation, operation or workflow id, or a saved FILE.json.")
    ],
    data_dir: Annotated[Path | None, typer.Option(help="Look in the stack of this data folder.")] = None,
    run_id: Annotated[str | None, typer.Option(help="Only this run of the workflow. Default: all of them.")] = None,
    save: Annotated[Path | None, typer.Option(help="Keep the history in this file, to replay it later.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Replay a history against today's code, say whether it is deterministic, and tell its story.

    Exit status: 0 deterministic, 1 not, 2 not found or not to be read.
    """
    import asyncio

    import settings
    from replaying.chains import ReplayFault
    from replaying.rendering import show
    from replaying.run import examine

    try:
        told = _settings("replay", data_dir) if data_dir else settings.load()
    except settings.SettingsFault:
        told = None  # a saved file needs no stack
    try:
        report = asyncio.run(examine(ident, told, run_id, save))
    except ReplayFault as fault:
        raise _failed("replay", fault, 2) from None
    show(report, machine=as_json)
    raise typer.Exit(0 if report.deterministic else 1)


@app.command()
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

    told = _settings("reconcile", data_dir)

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
        raise _failed("reconcile", _plainly(fault), 1) from None
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


@app.command()
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


@app.command()
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
        raise _failed("settle", ValueError("--external-id names the effect of an action that is confirmed"), 2)
    if external_id is not None and not (external_id.isprintable() and 1 <= len(external_id.strip()) <= 200):
        raise _failed("settle", ValueError("--external-id is 1 to 200 printable characters"), 2)

    async def work(db: "Database", _: "Database") -> ActionState:
        found, now, ident = ActionState(outcome), datetime.now(UTC), external_id.strip() if external_id else None
        return await settle_by_person(db, tenant, operation_id, found, by, ident, CONTRACT, LedgerWords(), now)

    typer.echo(f"{operation_id} is {_in_database('settle', data_dir, work).value}")


@app.command()
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
    from store.comparison import all_tenants

    if (close is None) != (by is None):
        raise _failed("cases", ValueError("--close and --by go together"), 2)

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


def _in_database(
    command: str, data_dir: Path | None, work: "Callable[[Database, Database], Awaitable[Found]]"
) -> Found:
    """Run `work` with the app's and the relay's database; a refusal or a database that is away ends the command."""
    import asyncio

    from sqlalchemy.exc import SQLAlchemyError

    from domain.refusal import Refusal
    from store.database import Database

    told = _settings(command, data_dir)

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
        raise _failed(command, no, 3 if "wait_s" in no.fields else 1) from None
    except SQLAlchemyError as fault:
        raise _failed(command, _plainly(fault), 1) from None


def _settings(command: str, data_dir: Path | None = None) -> "Settings":
    """Return the settings of the environment, or of the stack in `data_dir`; ends the command when they are wrong."""
    import settings
    from stack.environment import recorded
    from stack.faults import StackFault
    from stack.layout import DataDir

    try:
        return settings.load(recorded(DataDir.at(data_dir)) if data_dir else None)
    except StackFault as fault:
        raise _failed(command, fault, fault.exit_code) from None
    except settings.SettingsFault as fault:
        raise _failed(command, fault, 1) from None


def _configure_logs(told: "Settings") -> None:
    from logs import configure

    configure(told.log_level, as_json=told.log_json)


def _plainly(fault: Exception) -> Exception:
    """Return a failure without its statement and its parameters."""
    return RuntimeError(str(getattr(fault, "orig", None) or fault).strip())


def _failed(command: str, fault: Exception, status: int) -> typer.Exit:
    """Say on standard error why a command failed; returns what ends it with `status`."""
    typer.echo(f"interlock {command}: {fault}", err=True)
    return typer.Exit(status)


def _migration_head() -> str | None:
    """Return the newest migration that this code brings, or None where it brings none."""
    from alembic.script import ScriptDirectory

    folder = Path(__file__).with_name("store") / "migrations"
    return ScriptDirectory(str(folder)).get_current_head() if (folder / "versions").is_dir() else None


def main() -> None:
    """Run the command line."""
    app(prog_name="interlock")


if __name__ == "__main__":
    main()
