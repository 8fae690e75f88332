"""The commands on policy: look at a bundle before it counts, let it count, see what counts, and go back.

Mounted by `cli`; rooms are imported inside the commands.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli_ends import Databases, failed, in_databases, settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from publishing.examining import Examined
    from publishing.publish import Published, RolledBack
    from publishing.timeline import Span
    from store.policies import Publication, StoredBundle

app = typer.Typer(name="policy", help="Bundles of policy: look, test, publish, compare, go back.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="The bundle's folder: manifest.json, *.cedar, and cases.jsonl.")]
BaseOption = Annotated[
    Path | None,
    typer.Option("--base", help="The folder of a layer's base. Default: the one that comes with Interlock."),
]
Tenant = Annotated[str, typer.Option("--tenant", help="The tenant's id.")]
By = Annotated[str, typer.Option("--by", metavar="STAFF_ID", help="Who answers for it; the policy says who may.")]
Note = Annotated[str | None, typer.Option("--note", help="Why; it stands in the audit.")]
Stack = Annotated[Path | None, typer.Option("--data-dir", help="In the stack of this data folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def validate(folder: Folder, base: BaseOption = None, as_json: AsJson = False) -> None:
    """Load a bundle, judge its cases, and show which rules pull in opposite directions, each with a request.

    Exit status: 0 it may be published, 1 it does not load, 3 some of its cases come out otherwise.
    """
    examined = _examined("policy validate", folder, base)
    typer.echo(examined.model_dump_json() if as_json else str(examined))
    if examined.failed:
        raise typer.Exit(3)


@app.command("test")
def try_cases(folder: Folder, base: BaseOption = None) -> None:
    """Judge the cases written beside the rules, in cases.jsonl.

    Exit status: 0 all come out as they say, 1 the bundle or a case cannot be read, 3 some come out otherwise.
    """
    from policy.bundle import CASES, BundleInvalid
    from policy.cases import failures, parse_cases
    from policy.engine import PolicyEngine
    from publishing.examining import load

    files = _files("policy test", folder)
    try:
        bundle = load(files, _base_files("policy test", files, base))
        cases = parse_cases(files.get(CASES, ""))
    except BundleInvalid as fault:
        raise failed("policy test", fault, 1) from None
    wrong = failures(PolicyEngine(bundle), cases)
    for failure in wrong:
        typer.echo(str(failure))
    typer.echo(f"{len(cases) - len(wrong)} of {len(cases)} cases come out as they say")
    if wrong:
        raise typer.Exit(3)


@app.command()
def publish(
    folder: Folder,
    by: By,
    tenant: Annotated[str | None, typer.Option("--tenant", help="For this tenant: the folder is its layer.")] = None,
    for_all: Annotated[
        bool, typer.Option("--for-all", help="A base, for every tenant; their layers are made anew over it.")
    ] = False,
    note: Note = None,
    data_dir: Stack = None,
) -> None:
    """Let a bundle count, from its effective_from on, or at once where that has passed; traffic goes on meanwhile.

    It must load, and its cases must come out as they say; nothing is ever half-published. A layer is published by a
    member of staff who may; a base by whoever holds the database, who gives a name.
    Exit status: 0 published, 1 refused, 2 an option is wrong.
    """
    if (tenant is None) is not for_all:
        raise failed("policy publish", ValueError("give either --tenant T, for its layer, or --for-all, for a base"), 2)
    files = _files("policy publish", folder)

    async def layer(at: Databases) -> "Published":
        from publishing.publish import publish_layer

        whose = tenant or ""
        return await publish_layer(at.db, whose, files, await _publisher(at, whose, by), note, _here, at.now)

    async def base(at: Databases) -> "Examined":
        from publishing.publish import publish_base
        from store.comparison import all_tenants
        from store.database import Database

        owner = Database(settings_of("policy publish", data_dir).owner_url, 1)
        try:
            tenants = await all_tenants(at.relay)
            return await publish_base(at.db, owner, tenants, files, f"operator:{by}", note, _here, at.now)
        finally:
            await owner.close()

    if tenant is None:
        typer.echo(str(in_databases("policy publish", data_dir, base)))
        typer.echo("it counts for every tenant from its effective_from on")
        return
    done = in_databases("policy publish", data_dir, layer)
    typer.echo(str(done.examined))
    typer.echo(_told(done.publication))
    _tell_called_off(done.called_off)


@app.command("list")
def listing(tenant: Tenant, data_dir: Stack = None, as_json: AsJson = False) -> None:
    """List a tenant's publications, the newest first, and the bundles that it may go back to.

    Exit status: 0 listed, 1 there is no such tenant, or the database could not be reached.
    """
    import json

    async def work(at: Databases) -> "tuple[tuple[Span, ...], tuple[Publication, ...], tuple[StoredBundle, ...]]":
        from publishing.timeline import spans
        from store.policies import bundles, publications

        published = await publications(at.db, tenant)
        return spans(published, at.now), published, await bundles(at.db, tenant)

    coming, published, known = in_databases("policy list", data_dir, work)
    names = {bundle.digest: f"{bundle.bundle_id} {bundle.version}" for bundle in known}
    marks = {span.publication.n: "*" if n == 0 else "+" for n, span in reversed(list(enumerate(coming)))}
    if as_json:
        told = {"*": "in_force", "+": "to_come"}
        rows = [{**p.model_dump(mode="json"), "state": told.get(marks.get(p.n, ""), "past")} for p in published]
        typer.echo(json.dumps(rows))
        return
    for p in published:
        typer.echo(f"{marks.get(p.n, ' ')} {p.n:>3}  {names.get(p.digest, ''):<24} {_told(p)}")
    typer.echo("* is in force, + is to come, the others count no more")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A digest or its beginning, ID@VERSION, or an ID: then the newest.")],
    tenant: Tenant,
    file: Annotated[str | None, typer.Option("--file", help="Print this file of it, such as money.cedar.")] = None,
    data_dir: Stack = None,
    as_json: AsJson = False,
) -> None:
    """Show a published bundle: its manifest, its files and rules, or one file as it was published.

    Exit status: 0 shown, 1 there is no such bundle or file, or the database could not be reached.
    """

    async def work(at: Databases) -> "StoredBundle":
        from store.policies import find_bundle

        return await find_bundle(at.db, tenant, name)

    stored = in_databases("policy show", data_dir, work)
    if file is not None:
        if file not in stored.files:
            raise failed("policy show", ValueError(f"it has no file {file!r}; it has {', '.join(stored.files)}"), 1)
        typer.echo(stored.files[file], nl=False)
    elif as_json:
        typer.echo(stored.model_dump_json())
    else:
        _show(stored)


@app.command()
def rollback(
    tenant: Tenant,
    by: By,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DIGEST", help="Which; a beginning will do. Default: the one before.")
    ] = None,
    note: Note = None,
    data_dir: Stack = None,
) -> None:
    """Let an earlier bundle count again, at once: a publication of its own, so that nothing is forgotten.

    A layer comes back over the base in force; a base itself goes back by being published again, --for-all.

    Exit status: 0 it counts, 1 refused, or there is none to go back to.
    """

    async def work(at: Databases) -> "RolledBack":
        from publishing.publish import roll_back
        from store.policies import find_bundle

        digest = None if to is None else (await find_bundle(at.db, tenant, to)).digest
        return await roll_back(at.db, tenant, digest, await _publisher(at, tenant, by), note, at.now)

    done = in_databases("policy rollback", data_dir, work)
    typer.echo(_told(done.publication))
    _tell_called_off(done.called_off)


def _examined(command: str, folder: Path, base: Path | None) -> "Examined":
    from policy.bundle import BundleInvalid
    from publishing.examining import examine

    files = _files(command, folder)
    try:
        return examine(files, _base_files(command, files, base))
    except BundleInvalid as fault:
        raise failed(command, fault, 1) from None


def _files(command: str, folder: Path) -> "dict[str, str]":
    from policy.bundle import BundleInvalid, read_folder

    try:
        return read_folder(folder)
    except BundleInvalid as fault:
        raise failed(command, fault, 1) from None


def _base_files(command: str, files: "Mapping[str, str]", base: Path | None) -> "dict[str, str] | None":
    """The files of the base of a layer; None for a base. Raises BundleInvalid where the manifest is none."""
    from policy.bundle import BUNDLES
    from policy.manifest import MANIFEST, read_manifest

    if MANIFEST not in files:
        return None
    ident = read_manifest(files[MANIFEST]).base
    if ident is None:
        return None
    folder = base or BUNDLES / ident
    if not folder.is_dir():
        raise failed(
            command, ValueError(f"its base {ident!r} does not come with Interlock; give its folder: --base"), 2
        )
    return _files(command, folder)


async def _here(files: "Mapping[str, str]", base_files: "Mapping[str, str] | None") -> "Examined":
    from publishing.examining import examine

    return examine(files, base_files)


async def _publisher(at: Databases, tenant_id: str, staff_id: str) -> str:
    """Who publishes, as the audit writes it. Raises Forbidden where the policy in force does not let them."""
    from cli_duties import staff_who_may
    from domain.permission import Tool

    return await staff_who_may(at.db, tenant_id, staff_id, Tool.PUBLISH_POLICY)


def _told(publication: "Publication") -> str:
    until = f" until {publication.effective_until:%Y-%m-%d %H:%M}" if publication.effective_until else ""
    why = f": {publication.note}" if publication.note else ""
    return (
        f"{publication.cause.value} {publication.digest[:12]} by {publication.published_by}, effective from "
        f"{publication.effective_from:%Y-%m-%d %H:%M:%S}{until} UTC{why}"
    )


def _tell_called_off(publications: "Sequence[Publication]") -> None:
    for one in publications:
        begin = f"{one.effective_from:%Y-%m-%d %H:%M}"
        typer.echo(
            f"publication {one.n}, which was to count from {begin} UTC, never will: publish it again if it is to"
        )


def _show(stored: "StoredBundle") -> None:
    whose = f"layer of {stored.tenant_id} over {stored.base_digest or ''}" if stored.base_digest else "base"
    typer.echo(f"{stored.bundle_id} {stored.version}, {whose}, {stored.digest}")
    for name, value in stored.manifest.items():
        typer.echo(f"  {name}: {value}")
    for name, text in stored.files.items():
        typer.echo(f"  {name}: {len(text.splitlines())} lines")
