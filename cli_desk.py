"""The commands on a tenant's service desk: its document is shown, or set from a file.

Mounted by `cli`; rooms are imported inside the commands.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli_duties import staff_who_may
from cli_ends import Databases, failed, in_databases

if TYPE_CHECKING:
    from store.desk import StandingDesk

app = typer.Typer(
    name="desk", help="A tenant's service desk: hours, holidays, urgency, targets, skills.", no_args_is_help=True
)

Tenant = Annotated[str, typer.Option(help="The tenant's id.")]
DataDir = Annotated[Path | None, typer.Option(help="In the stack of this data folder.")]


@app.command()
def show(tenant: Tenant, data_dir: DataDir = None) -> None:
    """Print the document that counts, as JSON with its version; version 0 is what counts where none was set.

    Exit status: 0 printed, 1 there is no such tenant or the database could not be reached.
    """
    from domain.refusal import NotFound
    from store.admission import tenant_standing
    from store.desk import read_desk

    async def work(at: Databases) -> "StandingDesk":
        if await tenant_standing(at.db, tenant) is None:
            raise NotFound(f"There is no such tenant as {tenant!r}.")
        return await read_desk(at.db, tenant)

    typer.echo(json.dumps(in_databases("desk show", data_dir, work).model_dump(mode="json"), indent=2))


@app.command("set")
def set_(
    file: Annotated[Path, typer.Argument(help="The document as JSON, or what `show` has printed.")],
    tenant: Tenant,
    by: Annotated[str, typer.Option(metavar="STAFF_ID", help="Who answers for it; the policy says who may.")],
    data_dir: DataDir = None,
) -> None:
    """Let a document count from now on. What `show` printed takes the place of exactly the version that it shows.

    Exit status: 0 it counts, 1 refused or the database could not be reached, 2 the file holds no such document.
    """
    from pydantic import ValidationError

    from domain.desk import DeskSettings
    from domain.permission import Tool
    from store.desk import read_desk, set_desk

    try:
        given = json.loads(file.read_text("utf-8"))
        shown = isinstance(given, dict) and set(given) == {"version", "document"}
        document = DeskSettings.model_validate(given["document"] if shown else given)
        seen = int(given["version"]) if shown else None
    except (OSError, UnicodeDecodeError, RecursionError) as fault:
        raise failed("desk set", fault, 2) from None
    except ValidationError as fault:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'document'}: {e['msg']}" for e in fault.errors())
        raise failed("desk set", ValueError(wrong), 2) from None
    except (ValueError, TypeError) as fault:
        raise failed("desk set", ValueError(f"{file} is no JSON document of a desk: {fault}"), 2) from None

    async def work(at: Databases) -> int:
        who = await staff_who_may(at.db, tenant, by, Tool.MANAGE_STAFF)
        expected = (await read_desk(at.db, tenant)).version if seen is None else seen
        return await set_desk(at.db, tenant, document, expected, who)

    typer.echo(f"{tenant}: version {in_databases('desk set', data_dir, work)} of the desk counts")
