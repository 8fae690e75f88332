"""`interlock secret`: what a tenant signs with, and what it is sent is signed with; shown only when it is made.

Mounted by `cli`; rooms are imported inside the commands.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli_ends import failed, settings_of
from cli_record import DataDirOption, in_database

if TYPE_CHECKING:
    from store.secrets import Vault

app = typer.Typer(
    name="secret",
    help="Secrets of a tenant: `tickets` signs what its help desk sends, `widget` who its chat's customers are.",
    no_args_is_help=True,
)

TenantOption = Annotated[str, typer.Option(help="The tenant's id.")]
NameArgument = Annotated[str, typer.Argument(help="tickets, widget, or webhook.ID.")]
VALUE_CHARS_MIN, VALUE_CHARS_MAX = 32, 1_024


def vault_of(command: str, data_dir: Path | None) -> "Vault":
    """Return what opens secrets; ends the command where no key is set."""
    from store.secrets import Vault

    told = settings_of(command, data_dir)
    if told.secrets_key is None:
        why = "INTERLOCK_SECRETS_KEY is not set: it seals secrets; 32 bytes or more, the same for api and worker"
        raise failed(command, ValueError(why), 1)
    return Vault(told.secrets_key.get_secret_value())


@app.command("set")
def set_(
    name: NameArgument,
    tenant: TenantOption,
    generate: Annotated[bool, typer.Option("--generate", help="Make a new one, and print it: this once.")] = False,
    data_dir: DataDirOption = None,
) -> None:
    """Keep a secret, read from standard input or made with --generate; an earlier one of that name counts no more.

    Exit status: 0 it is kept, 1 it could not be, 2 the name or the value is none.
    """
    from store.secrets import new_secret, set_secret

    vault = vault_of("secret set", data_dir)
    _require_name(name)
    value = new_secret(name) if generate else _given()
    if (wrong := _wrong(name, value)) is not None:
        raise failed("secret set", ValueError(wrong), 2)
    in_database("secret set", tenant, data_dir, lambda db, _: set_secret(db, vault, tenant, name, value))
    typer.echo(value if generate else f"{name} of {tenant} is kept")


@app.command("list")
def list_(tenant: TenantOption, data_dir: DataDirOption = None) -> None:
    """List which secrets a tenant has and since when; never what they are.

    Exit status: 0 listed, 1 the database could not be reached.
    """
    from store.secrets import secrets_of

    for row in in_database("secret list", tenant, data_dir, lambda db, _: secrets_of(db, tenant)):
        typer.echo(f"{row.name}  since {row.made_at:%Y-%m-%d %H:%M} UTC")


@app.command()
def unset(name: NameArgument, tenant: TenantOption, data_dir: DataDirOption = None) -> None:
    """Forget a secret: what was signed with it is refused from then on.

    Exit status: 0 it is forgotten, 1 there was none, or the database could not be reached.
    """
    from store.secrets import unset_secret

    if not in_database("secret unset", tenant, data_dir, lambda db, _: unset_secret(db, tenant, name)):
        raise failed(
            "secret unset", ValueError(f"{tenant} has no secret {name!r}; `interlock secret list` says which"), 1
        )
    typer.echo(f"{name} of {tenant} is forgotten")


def _require_name(name: str) -> None:
    from store.secrets import TICKETS, WIDGET

    if name not in (TICKETS, WIDGET) and not name.startswith("webhook."):
        raise failed(
            "secret set", ValueError(f"{name!r} is used for nothing; there are tickets, widget and webhook.ID"), 2
        )


def _given() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        why = (
            "give the value on standard input, as in < FILE, or --generate one; on a command line others could read it"
        )
        raise failed("secret set", ValueError(why), 2)
    return sys.stdin.read().strip()


def _wrong(name: str, value: str) -> str | None:
    """Return what is wrong with a value, or None: what signs webhooks has the form of Standard Webhooks."""
    import base64
    import binascii

    from store.secrets import WIDGET

    if not VALUE_CHARS_MIN <= len(value) <= VALUE_CHARS_MAX or not value.isascii():
        return f"a secret has {VALUE_CHARS_MIN} to {VALUE_CHARS_MAX} characters, in ASCII"
    if name == WIDGET:
        return None
    try:
        unpadded = value.removeprefix("whsec_").rstrip("=")
        long_enough = len(base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), validate=True)) >= 24
    except binascii.Error:
        long_enough = False
    good = value.startswith("whsec_") and long_enough
    return None if good else "it must be of Standard Webhooks' form: whsec_ and the base64 of 24 bytes or more"
