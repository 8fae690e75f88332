"""The commands on policy: look at a bundle before it counts, let it count, see what counts, and go back.

Mounted by `cli`; rooms are imported inside the commands.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli_ends import Databases, failed, in_databases, settings_of
from cli_record import warn_of_unread

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
InForceOption = Annotated[
    str | None,
    typer.Option("--tenant", metavar="T", help="Instead: over the base in force for this tenant, whose layer it is."),
]
Tenant = Annotated[str, typer.Option("--tenant", help="The tenant's id.")]
By = Annotated[str, typer.Option("--by", metavar="STAFF_ID", help="Who answers for it; the policy says who may.")]
Note = Annotated[str | None, typer.Option("--note", help="Why; it stands in the audit.")]
Stack = Annotated[Path | None, typer.Option("--data-dir", help="In the stack of this data folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def validate(
    folder: Folder,
    base: BaseOption = None,
    tenant: InForceOption = None,
    data_dir: Stack = None,
    as_json: AsJson = False,
) -> None:
    """Load a bundle, judge its cases, and show which rules pull in opposite directions, each with a request.

    Exit status: 0 it may be published, 1 it does not load, 2 an option is wrong, 3 some of its cases come out
    otherwise.
    """
    from policy.bundle import BundleInvalid
    from publishing.examining import examine

    files = _files("policy validate", folder)
    try:
        examined = examine(files, _base_files("policy validate", files, base, tenant, data_dir))
    except BundleInvalid as fault:
        raise failed("policy validate", fault, 1) from None
    typer.echo(examined.model_dump_json() if as_json else str(examined))
    if examined.failed:
        raise typer.Exit(3)


@app.command("test")
def try_cases(folder: Folder, base: BaseOption = None, tenant: InForceOption = None, data_dir: Stack = None) -> None:
    """Judge the cases written beside the rules, in cases.jsonl.

    Exit status: 0 all come out as they say, 1 the bundle or a case cannot be read, 2 an option is wrong, 3 some come
    out otherwise.
    """
    from policy.bundle import CASES, BundleInvalid
    from policy.engine import PolicyEngine
    from policy.examining.cases import failures, parse_cases
    from publishing.examining import load, named, outcome_of

    files = _files("policy test", folder)
    try:
        bundle = load(files, _base_files("policy test", files, base, tenant, data_dir))
        cases = parse_cases(files.get(CASES, ""))
    except BundleInvalid as fault:
        raise failed("policy test", fault, 1) from None
    wrong = failures(PolicyEngine(bundle), cases)
    for failure in wrong:
        typer.echo(str(failure))
    over = f", over {named(bundle.base)}" if bundle.base and cases else ""
    typer.echo(f"{outcome_of(len(cases), len(wrong))}{over}")
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
        await _hold_tenant(at, whose)
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

        await _hold_tenant(at, tenant)
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

        await _hold_tenant(at, tenant)
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
    by: Annotated[
        str | None, typer.Option("--by", metavar="STAFF_ID", help="Who answers for it; the policy says who may.")
    ] = None,
    as_operator: Annotated[
        str | None,
        typer.Option("--as-operator", metavar="NAME", help="Instead: whoever holds the database, whatever the policy."),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DIGEST", help="Which; a beginning will do. Default: the one before.")
    ] = None,
    note: Note = None,
    data_dir: Stack = None,
) -> None:
    """Let an earlier bundle count again, at once: a publication of its own, so that nothing is forgotten.

    A layer comes back over the base in force; a base itself goes back by being published again, --for-all.
    An operator goes back also where the bundle in force does not load, so that nobody can be asked who may.

    Exit status: 0 it counts, 1 refused, or there is none to go back to, 2 an option is wrong.
    """
    if (by is None) is (as_operator is None):
        raise failed("policy rollback", ValueError("give either --by STAFF_ID or --as-operator NAME"), 2)
    if to is not None and _too_short(to):
        raise failed("policy rollback", ValueError(f"--to {to}: give 6 or more digits of a digest"), 2)

    async def work(at: Databases) -> "RolledBack":
        from publishing.publish import roll_back
        from store.database import Database
        from store.policies import find_bundle

        await _hold_tenant(at, tenant)
        digest = None if to is None else (await find_bundle(at.db, tenant, to)).digest
        if by is not None:
            return await roll_back(at.db, tenant, digest, await _publisher(at, tenant, by), note, at.now)
        owner = Database(settings_of("policy rollback", data_dir).owner_url, 1)
        try:
            return await roll_back(at.db, tenant, digest, f"operator:{as_operator}", note, at.now, through=owner)
        finally:
            await owner.close()

    done = in_databases("policy rollback", data_dir, work)
    typer.echo(_told(done.publication))
    _tell_called_off(done.called_off)


def _files(command: str, folder: Path) -> "dict[str, str]":
    from policy.bundle import BundleInvalid
    from publishing.folders import NoFolder, files_in

    warn_of_unread(command, folder)
    try:
        return files_in(folder)
    except (BundleInvalid, NoFolder) as fault:
        raise failed(command, fault, 1) from None


def _base_files(
    command: str, files: "Mapping[str, str]", base: Path | None, tenant: str | None, data_dir: Path | None
) -> "Mapping[str, str] | None":
    """The files of the base of a layer; None for a base. Raises BundleInvalid for a manifest that is none."""
    from policy.manifest import MANIFEST, read_manifest
    from publishing.folders import NoFolder, base_of

    if tenant is None:
        if data_dir is not None:
            raise failed(command, ValueError("--data-dir goes with --tenant: whose base in force it is"), 2)
        try:
            return base_of(files, base)
        except NoFolder as fault:
            raise failed(command, ValueError(f"--base: {fault}") if base else fault, 2) from None
    if base is not None:
        raise failed(command, ValueError("give either --base FOLDER or --tenant T, for the base in force there"), 2)
    manifest = read_manifest(files[MANIFEST])
    if manifest.tenant != tenant:
        whose = f"is for the tenant {manifest.tenant!r}" if manifest.tenant else "is a base, for every tenant"
        right = f"--tenant {manifest.tenant}" if manifest.tenant else "leave --tenant out"
        raise failed(command, ValueError(f"{manifest.id} {whose}, not for {tenant!r}; {right}"), 2)

    async def in_force(at: Databases) -> "Mapping[str, str]":
        from publishing.eras import base_in_force

        await _hold_tenant(at, tenant)
        return (await base_in_force(at.db, tenant, at.now)).files

    return in_databases(command, data_dir, in_force)


async def _hold_tenant(at: Databases, tenant_id: str) -> None:
    """Raise NotFound, with those that there are, where a tenant is none of them."""
    from domain.refusal import NotFound
    from store.comparison import all_tenants

    known = await all_tenants(at.relay)
    if tenant_id not in known:
        raise NotFound(f"There is no tenant {tenant_id!r}; there are {', '.join(known) or 'none'}.")


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


def _too_short(name: str) -> bool:
    """Whether it can only be the beginning of a digest, and too little of it to go by."""
    from store.policies import DIGEST_CHARS_MIN

    return len(name) < DIGEST_CHARS_MIN and any(c.isdigit() for c in name) and set(name) <= set("0123456789abcdef")


def _show(stored: "StoredBundle") -> None:
    """Tell what it is, what its manifest says, and the rules in each of its files."""
    from policy.bundle import BundleInvalid
    from policy.rules import rules_of

    whose = f"layer of {stored.tenant_id} over {stored.base_digest or ''}" if stored.base_digest else "base"
    typer.echo(f"{stored.bundle_id} {stored.version}, {whose}, {stored.digest}")
    for name, value in stored.manifest.items():
        if value not in (None, [], ""):
            typer.echo(f"  {name}: {', '.join(value) if isinstance(value, list) else value}")
    for name, text in stored.files.items():
        typer.echo(f"  {name}: {len(text.splitlines())} lines")
        try:
            for rule in rules_of({name: text}):
                typer.echo(f"    {rule.line:>4}  {'permit' if rule.permits else 'forbid'}  {rule.id}")
        except BundleInvalid as fault:
            typer.echo(f"    {fault}")
