"""The commands on models: what models.toml says, whether its models can be asked, and what they have cost.

Mounted by `cli`; rooms are imported inside the commands.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from cli_ends import failed
from cli_record import DataDirOption, SinceOption, TenantOption, in_database, since_when

if TYPE_CHECKING:
    from connectors.model_endpoints.book import ModelBook
    from connectors.model_endpoints.endpoints import ModelEndpoints
    from connectors.model_endpoints.probing import Probed
    from domain.model import Route
    from store.database import Database
    from store.model_calls import CostLine

app = typer.Typer(
    name="models", help="The models that understand and draft: configuration, reach, costs.", no_args_is_help=True
)

FileOption = Annotated[
    Path | None, typer.Option("--file", help="This models.toml. Default: INTERLOCK_MODELS_FILE, else the packaged one.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_MICROS = 1_000_000
Line = TypeVar("Line")


@app.command("list")
def list_models(file: FileOption = None, as_json: JsonOption = False) -> None:
    """Show whom each role asks on each route, in order, at what price, and what has admitted it.

    Exit status: 0 the file holds, 1 it does not; each line says where and what would be right.
    """
    from connectors.model_endpoints.reading import PACKAGED

    path = _file(file)
    book = _book("models list", path)
    if as_json:
        typer.echo(book.model_dump_json(indent=2))
        return
    typer.echo(f"{path or PACKAGED}: prices per million tokens, in {book.currency}")
    for role, by_route in book.roles.items():
        for route, use in by_route.items():
            typer.echo(f"\n{role}, {route} route, prompts {', '.join(use.prompts)}; then the local form")
            for name in use.chain:
                model = book.models[name]
                price = f"{model.input_per_million} in, {model.output_per_million} out"
                typer.echo(f"  {name}: {model.model} at {model.endpoint}; {price}; {model.structured}")
            typer.echo(f"  {_admitted(book, role, route)}")


@app.command()
def check(file: FileOption = None, as_json: JsonOption = False) -> None:
    """Ask every model that is used one tiny question, and say what is wrong where something is.

    Exit status: 0 all can be asked as the file says, 1 the file, a key or the package is wrong, 3 some model cannot.
    """
    import asyncio
    import json

    probed = asyncio.run(_probe(_file(file)))
    if as_json:
        typer.echo(json.dumps([p.model_dump(mode="json") for p in probed], indent=2))
    else:
        for one in probed:
            typer.echo(f"{'ok  ' if one.verdict.fine else 'NOT '} {one.model}: {one.told}")
    if not all(one.verdict.fine for one in probed):
        raise typer.Exit(3)


@app.command()
def costs(
    tenant: TenantOption = None, since: SinceOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """Say what models have taken: calls, tokens and money, for each role and route, and for each conversation.

    Exit status: 0 told, 1 the database cannot be read, 2 an option is wrong.
    """
    import json

    from store.model_calls import cost_lines

    lines = _read("models costs", tenant, since, data_dir, cost_lines)
    if as_json:
        typer.echo(json.dumps([_as_json(line) for line in lines], indent=2))
        return
    if not lines:
        typer.echo("no model has been asked")
    for line in lines:
        _tell(line)


@app.command()
def routes(
    tenant: TenantOption = None, since: SinceOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False
) -> None:
    """Count by which route turns were understood: rules, classifier, small or large model.

    Exit status: 0 told, 1 the database cannot be read, 2 an option is wrong.
    """
    import json

    from store.turn_routes import turns_by_route

    counts = _read("models routes", tenant, since, data_dir, turns_by_route)
    if as_json:
        typer.echo(json.dumps([count.model_dump(mode="json") for count in counts], indent=2))
        return
    if not counts:
        typer.echo("no turn has been understood")
    whole: dict[str, int] = {}
    for count in counts:
        whole[count.tenant_id] = whole.get(count.tenant_id, 0) + count.turns
    for count in counts:
        share = count.turns / whole[count.tenant_id]
        turns = f"{count.turns:>9,} turns  {share:>6.1%}"
        typer.echo(f"{count.tenant_id}  {count.route:<10}  {turns}  {count.handed_off:,} to a person")


@app.command()
def evaluate(
    cases: Annotated[
        list[Path], typer.Argument(help="JSON lines: text, and intent, or label 1 or 0 for asking for a person.")
    ],
    route: Annotated[Literal["small", "large"], typer.Option(help="The chain of this route is measured.")] = "small",
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have every model of a chain read cases, and print the evaluation that admits the route into models.toml.

    Exit status: 0 measured, 1 the file, a key, a case or the package is wrong.
    """
    import asyncio
    import json
    from datetime import UTC, datetime

    from domain.model import ModelRole, Route
    from evals.readings import block_of, worst_of

    path, on = _file(file), Route(route)
    book, figures, count = asyncio.run(_measured(path, on, cases))
    use = book.roles[ModelRole.UNDERSTAND][on]
    if as_json:
        typer.echo(json.dumps({"cases": count, "figures": figures}, indent=2))
        return
    for name, found in figures.items():
        typer.echo(f"# {name}: {', '.join(f'{what} {value:g}' for what, value in found.items())}")
    measured = ", ".join(case.name for case in cases)
    typer.echo(block_of(on, use, worst_of(list(figures.values())), measured, count, datetime.now(UTC).date()))


def _read(
    command: str,
    tenant: str | None,
    since: str | None,
    data_dir: Path | None,
    read: "Callable[[Database, Sequence[str], datetime | None], Awaitable[list[Line]]]",
) -> "list[Line]":
    """What `read` finds of these tenants, from `since` on."""
    begin = since_when(command, since)

    async def work(db: "Database", tenants: Sequence[str]) -> list[Line]:
        return await read(db, tenants, begin)

    return in_database(command, tenant, data_dir, work)


def _tell(line: "CostLine") -> None:
    of = f"{line.tenant_id}: {line.role}, {line.route} route, {line.model} at {line.endpoint}"
    ended = f"{line.calls:,} calls, {line.failed:,} of them failed, {line.unasked:,} not made"
    tokens = f"{line.input_tokens:,} tokens in, {line.output_tokens:,} out"
    each = (
        f"{_money(line.cost_micros_per_conversation, line.currency)} for each of {line.conversations:,} conversations"
    )
    typer.echo(f"{of}\n  {ended}; {tokens}\n  {_money(line.cost_micros, line.currency)}, {each}")


def _money(micros: int, currency: str) -> str:
    return f"{micros / _MICROS:,.6f} {currency}"


def _as_json(line: "CostLine") -> dict[str, object]:
    return line.model_dump(mode="json") | {"cost_micros_per_conversation": line.cost_micros_per_conversation}


def _admitted(book: "ModelBook", role: str, route: str) -> str:
    use = next(use for r, by in book.roles.items() for t, use in by.items() if (r, t) == (role, route))
    if use.evaluation is None:
        return "UNEVALUATED: nobody has measured these models with these prompts"
    figures = ", ".join(f"{name} {value:g}" for name, value in use.evaluation.figures.items())
    told = use.evaluation
    return f"admitted {told.at:%Y-%m-%d} by {told.measured}, {told.cases} cases: {figures}"


async def _probe(path: Path | None) -> "Sequence[Probed]":
    from connectors.model_endpoints.probing import probe

    book, endpoints = _opened("models check", path)
    try:
        return await probe(book, endpoints)
    finally:
        await endpoints.close()


async def _measured(
    path: Path | None, route: "Route", files: Sequence[Path]
) -> "tuple[ModelBook, dict[str, dict[str, float]], int]":
    """The book, the figures of each model of the chain, and over how many cases."""
    from auditing.meter import Meter
    from domain.model import ModelRole
    from evals.readings import NoCases, cases_of, figures_of, read_all

    try:
        rows = [case for f in files for case in cases_of(f.read_text("utf-8").splitlines(), str(f))]
    except (OSError, UnicodeDecodeError, NoCases) as fault:
        raise failed("models evaluate", fault, 1) from None
    book, endpoints = _opened("models evaluate", path)
    use = book.use(ModelRole.UNDERSTAND, route)
    if use is None:
        raise failed("models evaluate", ValueError(f"{path or 'models.toml'} has no [roles.understand.{route}]"), 1)
    try:
        with Meter("cases") as meter:
            meter.expect(len(rows) * len(use.chain))
            figures = {n: figures_of(await read_all(book, endpoints, n, route, rows, meter.advance)) for n in use.chain}
    finally:
        await endpoints.close()
    return book, figures, len(rows)


def _opened(command: str, path: Path | None) -> "tuple[ModelBook, ModelEndpoints]":
    from pydantic import SecretStr

    from activities.prompts import digests
    from connectors.model_endpoints.client import ModelsNotInstalled
    from connectors.model_endpoints.opening import open_models
    from connectors.model_endpoints.reading import ModelsInvalid

    told = _environment()
    key = told.get("INTERLOCK_MODEL_API_KEY")
    url = told.get("INTERLOCK_MODEL_BASE_URL")
    try:
        return open_models(path, digests(), url, SecretStr(key) if key else None, told)
    except (ModelsInvalid, ModelsNotInstalled) as fault:
        raise failed(command, fault, 1) from None


def _book(command: str, path: Path | None) -> "ModelBook":
    from activities.prompts import digests
    from connectors.model_endpoints.reading import ModelsInvalid, read_models

    try:
        return read_models(path, digests())
    except ModelsInvalid as fault:
        raise failed(command, fault, 1) from None


def _file(given: Path | None) -> Path | None:
    named = _environment().get("INTERLOCK_MODELS_FILE")
    return given or (Path(named) if named else None)


def _environment() -> Mapping[str, str]:
    from settings import inherited_environment

    return inherited_environment()
