"""The command line: each command is a small function that reads its options and hands them to a room.

Rooms are imported inside the commands, so that a small command such as `interlock token` starts at once.
"""

from pathlib import Path
from typing import Annotated, Literal

import typer

import cli_audit
import cli_backtest
import cli_books
import cli_claims
import cli_desk
import cli_knowledge
import cli_models
import cli_numbers
import cli_policy
import cli_policy_judge
import cli_secrets
import cli_tickets
import cli_understand
import cli_webhooks
from cli_ends import configure_logs, failed, plainly, settings_of

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
    shop_world: Annotated[
        Path | None, typer.Option(help="Another world for a new demo shop: as GET /_world gives it, or a retail one.")
    ] = None,
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
        shop_world=shop_world,
    )
    raise typer.Exit(run(wishes, settings.inherited_environment()))


@app.command()
def token(
    kind: Annotated[Literal["customer", "staff", "anonymous"], typer.Argument(help="Who the token is for.")],
    tenant: Annotated[str, typer.Option(help="The tenant's id.")],
    ident: Annotated[str, typer.Option("--id", help="The customer's, staff member's or visitor's id.")],
    data_dir: DataDirOption = Path(".interlock"),
    expires_in: Annotated[int, typer.Option(metavar="SECONDS", min=1, help="How long the token is good for.")] = 28_800,
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
        raise failed("token", fault, fault.exit_code) from None


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
    from cli_duties import policies_not_loading
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
        raise failed("doctor", fault, fault.exit_code) from None
    except settings.SettingsFault as fault:
        raise failed("doctor", fault, 1) from None
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
        policies_not_loading=lambda: policies_not_loading(told),
    )
    raise typer.Exit(report(examine(installation), as_json))


@app.command()
def migrate() -> None:
    """Bring the database to the newest schema, and policy that came with an older version to that of this one.

    What somebody has published is left alone; where that does not load any more, it is said. Safe to run again.
    Exit status: 0 it is there, 1 it could not be reached or changed.
    """
    import asyncio

    from sqlalchemy.exc import SQLAlchemyError

    from cli_duties import policies_not_loading
    from seeding.tenants import shipped_base
    from store.database import Database
    from store.migrate import migrate as run
    from store.provision import renew_seeded_policy

    told = settings_of("migrate")

    async def renew() -> list[str]:
        owner = Database(told.owner_url, 1)
        try:
            return await renew_seeded_policy(owner, shipped_base())
        finally:
            await owner.close()

    try:
        typer.echo(f"schema {run(told.owner_url, told.database_url, told.relay_url)}")
        renewed = asyncio.run(renew())
    except SQLAlchemyError as fault:
        raise failed("migrate", plainly(fault), 1) from None
    if renewed:
        typer.echo(f"the base policy of this version counts for {', '.join(renewed)}")
    for broken in policies_not_loading(told) or ():
        typer.echo(f"warning: {broken}", err=True)


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
    from store.secrets import Vault
    from worker import shop_of

    told = settings_of("seed", data_dir)

    async def run() -> Seeded:
        owner, db, shop = Database(told.owner_url, 2), Database(told.database_url, 4), shop_of(told)
        try:
            return await fill(
                owner,
                db,
                shop,
                told.shop_url,
                reset=reset,
                progress=lambda _: None,
                people_file=told.dev_people_file,
                vault=Vault(told.secrets_key.get_secret_value()) if told.secrets_key else None,
            )
        finally:
            await shop.close()
            await db.close()
            await owner.close()

    try:
        done = asyncio.run(run())
    except SQLAlchemyError as fault:
        raise failed("seed", plainly(fault), 1) from None
    except httpx.HTTPError as fault:
        where = f"the demo shop at {told.shop_url} does not answer ({fault}); is the stack running?"
        raise failed("seed", ValueError(where), 1) from None
    past = done.alive
    typer.echo(f"tenants: {', '.join(done.tenants)}")
    if past is None:
        typer.echo("conversations were there already; nothing was added (--reset begins again)")
    else:
        typer.echo(
            f"{past.finished} finished conversations, {past.handoffs} waiting handoffs, "
            f"{past.approvals} waiting approvals, {past.unknown} unknown action, "
            f"{past.served} handoffs that people dealt with, {past.drafts} waiting drafts"
        )


@app.command()
def worker(
    ready_file: Annotated[Path | None, typer.Option(help="Created once the worker polls.")] = None,
) -> None:
    """Run the Temporal worker: workflows, activities, the outbox relay.

    Exit status: 0 stopped when asked, 1 the settings are wrong or something failed.
    """
    from settings import SettingsFault
    from worker import run

    told = settings_of("worker")
    configure_logs(told)
    try:
        run(told, ready_file)
    except SettingsFault as fault:
        raise failed("worker", fault, 1) from None


@app.command()
def api() -> None:
    """Serve the HTTP contract.

    Exit status: 0 stopped when asked, 1 the settings are wrong, 2 the port is taken.
    """
    from api import run

    told = settings_of("api")
    configure_logs(told)
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
    from sqlalchemy.exc import SQLAlchemyError

    from relay.recover import Recovered
    from relay.recover import recover as rebuild
    from relay.temporal import Waker, address_of, connect
    from store.database import Database

    told = settings_of("recover", data_dir)

    async def run(bar: Progress) -> Recovered:
        row = bar.add_task("open work", total=None)
        db = Database(told.relay_url, 3)
        try:
            waker = Waker(
                await connect(address_of(told), lazy=False), told.task_queue, int(told.conversation_idle_close_s)
            )
            return await rebuild(db, waker, lambda n: bar.advance(row, n))
        finally:
            await db.close()

    try:
        with Progress() as bar:
            done = asyncio.run(run(bar))
    except SQLAlchemyError as fault:
        raise failed("recover", plainly(fault), 1) from None
    except RuntimeError:
        where = f"Temporal cannot be reached at {told.temporal_address}; interlock doctor says more"
        raise failed("recover", ValueError(where), 1) from None
    typer.echo(f"{done.conversations} conversations and {done.actions} actions have their workflows")
    if done.failed:
        raise failed("recover", RuntimeError(f"{done.failed} could not be reached; run it again"), 1)


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
        told = settings_of("replay", data_dir) if data_dir else settings.load()
    except settings.SettingsFault:
        told = None  # a saved file needs no stack
    try:
        report = asyncio.run(examine(ident, told, run_id, save))
    except ReplayFault as fault:
        raise failed("replay", fault, 2) from None
    show(report, machine=as_json)
    raise typer.Exit(0 if report.deterministic else 1)


def _migration_head() -> str | None:
    """Return the newest migration that this code brings, or None where it brings none."""
    from alembic.script import ScriptDirectory

    folder = Path(__file__).with_name("store") / "migrations"
    return ScriptDirectory(str(folder)).get_current_head() if (folder / "versions").is_dir() else None


app.command()(cli_numbers.numbers)
for command in (cli_books.reconcile, cli_books.dispatch, cli_books.settle, cli_books.cases):
    app.command()(command)
cli_policy.app.command("judge")(cli_policy_judge.judge)
cli_policy.app.command()(cli_backtest.backtest)
cli_policy.app.command()(cli_backtest.diff)
app.add_typer(cli_policy.app)
app.add_typer(cli_audit.app)
app.add_typer(cli_knowledge.app)
app.add_typer(cli_models.app)
app.add_typer(cli_understand.app)
app.add_typer(cli_claims.app)
app.add_typer(cli_desk.app)
app.add_typer(cli_secrets.app)
app.add_typer(cli_tickets.app)
app.add_typer(cli_webhooks.app)


def main() -> None:
    """Run the command line."""
    app(prog_name="interlock")


if __name__ == "__main__":
    main()
