"""The commands on the audit: verify that nobody touched it, and export it.

Mounted by `cli`; rooms are imported inside the commands.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from cli_ends import failed
from cli_record import DataDirOption, SinceOption, TenantOption, in_database, since_when

if TYPE_CHECKING:
    from auditing.exporting import Exported
    from auditing.verifying import Verified
    from store.database import Database

app = typer.Typer(
    name="audit", help="The record of every verdict, move, approval, publication and switch.", no_args_is_help=True
)


@app.command()
def verify(
    tenant: TenantOption = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="N:HASH", help="Row N must have this hash, as noted elsewhere; with --tenant."),
    ] = None,
    file: Annotated[
        typer.FileBinaryRead | None, typer.Option(help="Verify an export, without a database; - reads stdin.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array, one object a tenant.")] = False,
) -> None:
    """Recompute the chain of each tenant's audit; say where a row was edited, dropped, inserted or moved.

    Exit status: 0 all of it is whole, 1 it could not be read, or a file has no such rows, 2 an option is wrong,
    3 it is not whole.
    """
    import json

    anchors = _anchors(expect or [], tenant)
    if file and data_dir:
        raise failed("audit verify", ValueError("--file is verified without a stack: leave --data-dir out"), 2)
    found = _of_file(file, tenant, anchors) if file else _of_database(data_dir, tenant, anchors)
    if as_json:
        typer.echo(json.dumps([v.model_dump(mode="json") for v in found]))
    else:
        for verified in found:
            _tell(verified)
    if any(v.faults_n for v in found):
        raise typer.Exit(3)


@app.command()
def export(
    tenant: TenantOption = None,
    since: SinceOption = None,
    to: Annotated[Path | None, typer.Option(help="Write this file. Default: standard output.")] = None,
    data_dir: DataDirOption = None,
) -> None:
    """Write the audit as JSON, one row a line, with all that is hashed; docs/audit.md says how to recompute it.

    The number and hash of each tenant's last row are told on standard error: note them elsewhere, for verify --expect.
    Exit status: 0 written, 1 it could not be read or written, 2 an option is wrong.
    """
    from auditing.exporting import export_tenant
    from auditing.meter import Meter

    begin = since_when("audit export", since)

    async def work(db: "Database", tenants: Sequence[str]) -> "list[Exported]":
        with Meter("rows") as meter, _output(to) as out:
            return [await export_tenant(db, one, begin, out.write, meter.advance) for one in tenants]

    try:
        done = in_database("audit export", tenant, data_dir, work)
    except OSError as fault:
        what = ValueError(f"{to or 'standard output'} cannot be written: {fault.strerror or fault}")
        raise failed("audit export", what, 1) from None
    for one in done:
        end = f"; the last is {one.head.n}:{one.head.hash}" if one.rows else ""
        typer.echo(f"{one.tenant_id}: {one.rows} rows{end}", err=True)


def _of_file(file: typer.FileBinaryRead, tenant: str | None, anchors: dict[int, str]) -> "tuple[Verified, ...]":
    from auditing.meter import Meter
    from auditing.verifying import NoRows, NotARow, verify_lines

    try:
        with Meter("rows") as meter:
            return verify_lines(file, tenant, anchors, meter.advance)
    except (NotARow, NoRows) as fault:
        raise failed("audit verify", ValueError(f"{file.name}: {fault}"), 1) from None


def _of_database(data_dir: Path | None, tenant: str | None, anchors: dict[int, str]) -> "tuple[Verified, ...]":
    from auditing.meter import Meter
    from auditing.verifying import verify_tenant
    from store.record import audit_size

    async def work(db: "Database", tenants: Sequence[str]) -> "tuple[Verified, ...]":
        with Meter("rows") as meter:
            for one in tenants:
                meter.expect(await audit_size(db, one))
            return tuple([await verify_tenant(db, one, anchors, meter.advance) for one in tenants])

    return in_database("audit verify", tenant, data_dir, work)


def _anchors(expect: list[str], tenant: str | None) -> dict[int, str]:
    """The rows that were noted elsewhere, by number; ends the command where one cannot be read."""
    import re

    anchors = {}
    for text in expect:
        found = re.fullmatch(r"([1-9]\d{0,17}):([0-9a-f]{64})", text)
        if found is None:
            wrong = f"--expect {text!r} is no row; write N:HASH, its number and its 64 hex digits, as export tells them"
            raise failed("audit verify", ValueError(wrong), 2)
        anchors[int(found[1])] = found[2]
    if anchors and tenant is None:
        raise failed("audit verify", ValueError("--expect is about one tenant: name it with --tenant"), 2)
    return anchors


def _tell(found: "Verified") -> None:
    """Say what was found of one tenant."""
    stretch = f"rows {found.first} to {found.head.n}, the last is {found.head.n}:{found.head.hash}"
    if not found.faults_n:
        typer.echo(f"{found.tenant_id}: whole; {stretch if found.rows else 'nothing is on record'}")
        if found.first > 1:
            typer.echo(f"  what was before row {found.first} is not here; tie it with --expect {found.first - 1}:HASH")
        return
    typer.echo(f"{found.tenant_id}: NOT WHOLE; {found.rows} rows read, {found.faults_n} faults")
    for fault in found.faults:
        typer.echo(f"  {fault}")
    if found.faults_n > len(found.faults):
        typer.echo(f"  and {found.faults_n - len(found.faults)} more, which may follow from these")


@contextmanager
def _output(to: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that is there once all of it is written."""
    import sys

    if to is None:
        yield sys.stdout
        return
    part = to.with_name(to.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
