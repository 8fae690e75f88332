"""The commands that judge recorded decisions again: under another bundle, or under two and compared.

Mounted by the commands on policy; rooms are imported inside the functions.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from cli_ends import failed
from cli_record import DataDirOption, SinceOption, TenantOption, in_database, since_when, warn_of_unread

if TYPE_CHECKING:
    from auditing.backtesting import Run
    from auditing.report import Report
    from store.database import Database

BUNDLE = (
    "A bundle's folder; or a published one: its ID (then the newest), ID@VERSION, or 6 or more digits of its digest;"
    " or the name of one that comes with Interlock. The first of these that there is."
)
Bundle = Annotated[str, typer.Argument(metavar="BUNDLE", help=BUNDLE)]
UseOption = Annotated[
    Literal["both", "propose", "reserve"],
    typer.Option(help="Decisions when actions were proposed, when they were reserved, or both."),
]
AfterOption = Annotated[int, typer.Option(min=0, metavar="N", help="Only rows after number N of each tenant's audit.")]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Processes. Default: one for each core.")]
ExamplesOption = Annotated[int, typer.Option(min=0, max=100, help="Decisions told for each way to flip.")]
KeepOption = Annotated[
    bool, typer.Option("--keep", help="Keep the result with the tenant, for its staff to read in the console.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class _Asked(NamedTuple):
    """What the command line asks for."""

    bundle: str
    against: str | None
    since: datetime | None
    tenant: str | None
    use: Literal["both", "propose", "reserve"]
    after: int
    jobs: int | None
    examples: int
    data_dir: Path | None


def backtest(
    bundle: Bundle,
    since: SinceOption = None,
    tenant: TenantOption = None,
    use: UseOption = "both",
    after: AfterOption = 0,
    jobs: JobsOption = None,
    examples: ExamplesOption = 3,
    keep: KeepOption = False,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge every decision on record again under BUNDLE, over the facts recorded with it: what would change, and why.

    Nothing is written but, with --keep, its result. Ctrl-C stops it and tells what was judged so far.
    Exit status: 0 done, 1 the bundle or the database cannot be read, 2 an option is wrong, 130 stopped.
    """
    begin = since_when("policy backtest", since)
    if keep and tenant is None:
        told = ValueError("--keep: say whose result it is to be, with --tenant")
        raise failed("policy backtest", told, 2)
    asked = _Asked(bundle, None, begin, tenant, use, after, jobs, examples, data_dir)
    report = _run("policy backtest", asked, as_json)
    if keep:
        _keep(asked, report)


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help=BUNDLE)],
    other: Annotated[str, typer.Argument(metavar="B", help="The bundle to compare it with, named in the same ways.")],
    since: SinceOption = None,
    tenant: TenantOption = None,
    use: UseOption = "both",
    after: AfterOption = 0,
    jobs: JobsOption = None,
    examples: ExamplesOption = 3,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge every decision on record under A and under B: which verdicts would differ, and why.

    Exit status: 0 done, 1 a bundle or the database cannot be read, 2 an option is wrong, 130 stopped.
    """
    begin = since_when("policy diff", since)
    _run("policy diff", _Asked(other, one, begin, tenant, use, after, jobs, examples, data_dir), as_json)


def _run(command: str, asked: _Asked, as_json: bool) -> "Report":
    """Run it, print the report and return it; ends the command where it was stopped."""
    from time import monotonic

    from auditing.backtesting import Run
    from auditing.bundles import is_folder
    from auditing.telling import Telling
    from language.formats import exponent
    from policy.examining.tally import Tally

    for name in (asked.against, asked.bundle):
        if name is not None and is_folder(name):
            warn_of_unread(command, Path(name))
    run, began_at = Run(Tally(asked.examples)), monotonic()
    with suppress(KeyboardInterrupt):
        _judge_all(command, asked, run)
    report = _report(asked, run, monotonic() - began_at)
    if report is None:
        raise typer.Exit(130)
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        Telling(exponent).tell(report)
    if report.interrupted:
        raise typer.Exit(130)
    return report


def _keep(asked: _Asked, report: "Report") -> None:
    """Keep a result that is of one tenant alone."""
    from store.backtests import keep_backtest

    async def work(db: "Database", tenants: Sequence[str]) -> str:
        return await keep_backtest(db, tenants[0], report.model_dump(mode="json"))

    kept = in_database("policy backtest", asked.tenant, asked.data_dir, work)
    typer.echo(f"kept as {kept}", err=True)


def _judge_all(command: str, asked: _Asked, run: "Run") -> None:
    """Judge what is on record, counting into `run`; ends the command where something cannot be read."""
    from auditing.backtesting import Span, backtest, jobs_for, on_record
    from auditing.bundles import NoBundle
    from auditing.meter import Meter
    from auditing.setup import set_up
    from policy.bundle import BundleInvalid

    span = Span(asked.after, asked.since)
    use = None if asked.use == "both" else asked.use

    async def work(db: "Database", tenants: Sequence[str]) -> None:
        run.set_up = await set_up(db, tenants, asked.bundle, asked.against, use, asked.examples)
        terms = run.set_up.terms
        decisions = await on_record(db, terms, span)
        with Meter("decisions") as meter:
            meter.expect(decisions)
            await backtest(db, terms, span, jobs_for(decisions, asked.jobs), run, meter.advance)

    try:
        in_database(command, asked.tenant, asked.data_dir, work)
    except (NoBundle, BundleInvalid) as fault:
        raise failed(command, fault, 1) from None


def _report(asked: _Asked, run: "Run", seconds: float) -> "Report | None":
    """What came of it; None where it was stopped before anything was judged."""
    from auditing.report import Report, flip_rows, unjudged_rows

    if run.set_up is None:
        return None
    tally, made = run.tally, run.set_up
    return Report(
        under=made.under,
        against=made.against,
        tenants=tuple(made.terms.trials),
        since=asked.since,
        after=asked.after,
        use=made.terms.use,
        decisions=tally.decisions,
        same=tally.same,
        same_by_other_rules=tally.other_rules,
        flipped=tally.flipped,
        flips=flip_rows(tally),
        unjudged=unjudged_rows(tally),
        interrupted=not run.finished,
        through=run.through,
        seconds=round(seconds, 3),
    )
