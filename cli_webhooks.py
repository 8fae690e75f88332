"""`interlock webhook`: where a tenant is told of what, what became of telling it, and a receiver to try it with.

Mounted by `cli`; rooms are imported inside the commands.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from cli_duties import staff_who_may
from cli_ends import failed, settings_of
from cli_record import DataDirOption, in_database
from cli_secrets import TenantOption, vault_of
from domain.webhook_kinds import DeliveryState, WebhookType

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

    from store.database import Database
    from store.delivery_facts import Delivery
    from store.webhooks import Webhook

app = typer.Typer(
    name="webhook",
    help="Webhooks of a tenant: where it is told of replies, tags, handoffs and actions.",
    no_args_is_help=True,
)

ByOption = Annotated[str, typer.Option(metavar="STAFF_ID", help="Who answers for it; the policy says who may.")]
LIMIT = 200


@app.command()
def add(
    url: Annotated[str, typer.Argument(help="https://…, without user, password or fragment.")],
    tenant: TenantOption,
    by: ByOption,
    types: Annotated[list[WebhookType], typer.Option("--type", help="Told of this; give it once for each.")],
    data_dir: DataDirOption = None,
) -> None:
    """Let a tenant be told at URL, and print the webhook's id and its secret: this once.

    Exit status: 0 it is told from now on, 1 refused or the database could not be reached, 2 the URL cannot be used.
    """
    from uuid import uuid4

    from domain.webhook import networks_of, url_fault
    from store.secrets import new_secret
    from store.webhooks import NewWebhook, secret_name

    told, vault = settings_of("webhook add", data_dir), vault_of("webhook add", data_dir)
    if (wrong := url_fault(url, networks_of(told.webhook_networks))) is not None:
        raise failed("webhook add", ValueError(wrong), 2)
    ident = f"wh-{uuid4().hex[:12]}"
    secret = new_secret(secret_name(ident))
    new = NewWebhook(id=ident, url=url, types=tuple(dict.fromkeys(types)), active=True, secret=secret)

    async def make(db: "Database", _: object) -> "Webhook":
        from domain.permission import Tool
        from store.webhooks import make_webhook

        answers_for_it = await staff_who_may(db, tenant, by, Tool.MANAGE_STAFF)
        return await make_webhook(db, vault, tenant, new, answers_for_it)

    in_database("webhook add", tenant, data_dir, make)
    typer.echo(f"{ident} {secret}")


@app.command("list")
def list_(tenant: TenantOption, data_dir: DataDirOption = None) -> None:
    """List where a tenant is told of what.

    Exit status: 0 listed, 1 the database could not be reached.
    """
    from store.webhooks import webhooks_of

    for one in in_database("webhook list", tenant, data_dir, lambda db, _: webhooks_of(db, tenant)):
        typer.echo(f"{one.id}  {', '.join(one.types)}  {one.url}{'' if one.active else '  (not active)'}")


@app.command()
def remove(
    ident: Annotated[str, typer.Argument(metavar="ID", help="Of the webhook.")],
    tenant: TenantOption,
    by: ByOption,
    data_dir: DataDirOption = None,
) -> None:
    """Tell it nothing more; what waited for it is dead.

    Exit status: 0 it is gone, 1 refused, there was none, or the database could not be reached.
    """

    async def take_away(db: "Database", _: object) -> None:
        from domain.permission import Tool
        from store.webhooks import remove_webhook

        await staff_who_may(db, tenant, by, Tool.MANAGE_STAFF)
        await remove_webhook(db, tenant, ident)

    in_database("webhook remove", tenant, data_dir, take_away)
    typer.echo(f"{ident} is told nothing more")


@app.command()
def deliveries(
    tenant: TenantOption,
    state: Annotated[DeliveryState | None, typer.Option(help="Only these; `dead` are the dead letters.")] = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Only of this conversation.")] = None,
    data_dir: DataDirOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """List what was or is to be told, the latest first, 200 at most.

    Exit status: 0 listed, 1 the database could not be reached.
    """
    import json

    from store.delivery_facts import deliveries_of

    found = in_database(
        "webhook deliveries",
        tenant,
        data_dir,
        lambda db, _: deliveries_of(db, tenant, state, conversation, None, LIMIT),
    )
    if as_json:
        typer.echo(json.dumps([one.model_dump(mode="json") for one in found]))
        return
    for one in found:
        typer.echo(_row(one))


@app.command()
def replay(
    ident: Annotated[int, typer.Argument(metavar="DELIVERY", help="The delivery's number.")],
    tenant: TenantOption,
    by: ByOption,
    data_dir: DataDirOption = None,
) -> None:
    """Tell it again, under its first webhook-id; the worker does it within seconds.

    Exit status: 0 it waits again, 1 refused, there is none, or the database could not be reached.
    """

    async def again(db: "Database", _: object) -> "Delivery":
        from domain.permission import Tool
        from store.delivery_facts import replay_delivery

        await staff_who_may(db, tenant, by, Tool.MANAGE_STAFF)
        return await replay_delivery(db, tenant, ident)

    typer.echo(_row(in_database("webhook replay", tenant, data_dir, again)))


@app.command()
def listen(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 9099,
    status: Annotated[int, typer.Option(min=200, max=599, help="What to answer with.")] = 204,
) -> None:
    """Receive webhooks on this machine and print each, a line for its id and its JSON; signatures are not checked.

    Exit status: 0 stopped with Ctrl-C, 2 the port cannot be listened on.
    """
    import contextlib

    server = _receiver(port, status)
    typer.echo(f"listening on http://127.0.0.1:{server.server_address[1]}/", err=True)
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


def _receiver(port: int, status: int) -> "ThreadingHTTPServer":
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Printing(BaseHTTPRequestHandler):
        """Prints what it is sent."""

        def do_POST(self) -> None:
            """Take one."""
            raw = self.rfile.read(min(int(self.headers.get("content-length") or 0), 1_048_576))
            typer.echo(f"{self.headers.get('webhook-id')} {raw.decode('utf-8', 'replace')}")
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name that the server calls
            """Say nothing beside."""

    try:
        return ThreadingHTTPServer(("127.0.0.1", port), Printing)
    except OSError as fault:
        raise failed("webhook listen", ValueError(f"port {port} cannot be listened on ({fault.strerror})"), 2) from None


def _row(one: "Delivery") -> str:
    what = f"seq {one.seq}" if one.seq is not None else "tag"
    why = f" ({one.last_fault}{f' {one.last_status}' if one.last_status else ''})" if one.last_fault else ""
    head = f"{one.id}  {one.state.value}  {one.type.value} {what} of {one.conversation_id}"
    return f"{head}  to {one.webhook_id}, {one.attempts} tries{why}"
