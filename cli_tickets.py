"""`interlock ticket`: sends an event of a help desk, signed as the tenant's help desk would, to try the way in.

Mounted by `cli`; rooms are imported inside the commands.
"""

from pathlib import Path
from typing import Annotated

import typer

from cli_ends import failed, settings_of
from cli_record import DataDirOption, in_database
from cli_secrets import TenantOption, vault_of

app = typer.Typer(name="ticket", help="Tickets of a tenant's help desk.", no_args_is_help=True)


@app.command()
def send(
    file: Annotated[Path, typer.Argument(help="The event as JSON, as docs/tickets.md says; - for standard input.")],
    tenant: TenantOption,
    ident: Annotated[str | None, typer.Option("--id", help="Its webhook-id. Default: a new one.")] = None,
    api: Annotated[str | None, typer.Option(metavar="URL", help="Default: INTERLOCK_API_PUBLIC_URL.")] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Sign one event with the tenant's secret `tickets`, send it, and print the answer.

    Exit status: 0 it was taken, 1 it was refused or could not be sent, 2 the file cannot be read.
    """
    import sys
    from datetime import UTC, datetime
    from uuid import uuid4

    import httpx
    from standardwebhooks import Webhook

    from store.secrets import TICKETS, secret_of

    told, vault = settings_of("ticket send", data_dir), vault_of("ticket send", data_dir)
    try:
        body = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise failed("ticket send", ValueError(f"{file} cannot be read: {fault}"), 2) from None
    secret = in_database("ticket send", tenant, data_dir, lambda db, _: secret_of(db, vault, tenant, TICKETS))
    if secret is None:
        how = f"interlock secret set tickets --tenant {tenant} --generate"
        raise failed("ticket send", ValueError(f"{tenant} has no secret for tickets; make one: {how}"), 1)
    webhook_id, now = ident or f"msg_{uuid4().hex}", datetime.now(UTC)
    headers = {
        "content-type": "application/json",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(webhook_id, now, body),
    }
    where = f"{(api or told.api_public_url).rstrip('/')}/tickets"
    try:
        answer = httpx.post(where, params={"tenant": tenant}, content=body.encode(), headers=headers, timeout=30)
    except httpx.HTTPError as fault:
        raise failed("ticket send", ValueError(f"{where} does not answer ({fault})"), 1) from None
    typer.echo(answer.text)
    if not answer.is_success:
        raise failed("ticket send", ValueError(f"it was refused, with status {answer.status_code}"), 1)
