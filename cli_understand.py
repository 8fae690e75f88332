"""The commands on understanding: read messages and say what they want, measure that, and train the heads.

Mounted by `cli`; rooms are imported inside the commands. What is said here is a proposal and has no effect on anybody.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli_ends import failed, given_lines

if TYPE_CHECKING:
    from language.examples import Example
    from language.routing import LocalUnderstander

app = typer.Typer(
    name="understand",
    help="What messages want: read them from standard input, measure on marked ones, train.",
    invoke_without_command=True,
)

Rows = Annotated[
    Path,
    typer.Argument(
        help='JSON lines: "text", any of "intent", "intents", "label" (1: asks for a person), "lang", "out_of_scope".'
    ),
]


@app.callback()
def understand(context: typer.Context) -> None:
    """Read lines of {"id", "text"} on standard input; write what each wants, one JSON line each, as it comes.

    Exit status: 0 every line was understood, 1 a line was no such object (said on standard error, with its number).
    """
    if context.invoked_subcommand is None:
        from language.routing import LocalUnderstander

        raise typer.Exit(_answer(given_lines("understand"), LocalUnderstander()))


@app.command("eval")
def evaluate(
    file: Rows,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Measure on marked rows: accuracy by intent and by language, with intervals at 95 %.

    Exit status: 0 measured, 1 the file has a row that cannot be used, 2 there is no such file.
    """
    from rich.console import Console
    from rich.progress import Progress

    from evals.tables import show
    from evals.understanding import RowsInvalid, measure, rows_of
    from language.reporting import report
    from language.routing import LocalUnderstander

    try:
        rows = list(rows_of(file.read_text(encoding="utf-8").splitlines()))
    except (RowsInvalid, UnicodeDecodeError) as fault:
        raise failed("understand eval", ValueError(f"{file}: {fault}"), 1) from None
    except OSError as fault:
        raise failed("understand eval", fault, 2) from None
    understander = LocalUnderstander()
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("rows", total=len(rows))
        measured = measure(rows, lambda text: report(text, understander), lambda: bar.advance(task))
    if as_json:
        typer.echo(json.dumps(measured.figures(), indent=2))
    else:
        show(measured, Console(width=None if sys.stdout.isatty() else 160))


@app.command()
def train(
    check: Annotated[
        bool, typer.Option("--check", help="Train nothing: say whether the kept heads are of the examples as they are.")
    ] = False,
    cache: Annotated[
        Path | None, typer.Option(help="Keeps the vectors of the examples, which take most of the time.")
    ] = None,
) -> None:
    """Train the heads from language/data/examples and keep them in language/data/heads.

    Exit status: 0 trained (with --check: they are up to date), 1 they are not, or something is missing.
    """
    from language.examples import ExamplesInvalid, digest_over, examples_in

    try:
        examples = examples_in()
    except ExamplesInvalid as fault:
        raise failed("understand train", fault, 1) from None
    if check:
        raise typer.Exit(_up_to_date(digest_over(examples)))
    _train(examples, cache)


def _answer(lines: Iterable[str], understander: "LocalUnderstander") -> int:
    """Answer line by line; returns the exit status."""
    from rich.console import Console
    from rich.progress import Progress

    from language.reporting import report

    status = 0
    quiet = sys.stdout.isatty() or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("messages", total=None)
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                ident, text = _message(line)
            except ValueError as fault:
                typer.echo(f"interlock understand: line {number}: {fault}", err=True)
                status = 1
                continue
            told = {"id": ident, **report(text, understander).model_dump(mode="json")}
            sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
            sys.stdout.flush()
            bar.advance(task)
    return status


def _message(line: str) -> tuple[Any, str]:
    """Return the id and the text of a line. Raises ValueError saying what would be right."""
    try:
        given = json.loads(line)
    except ValueError as fault:
        raise ValueError(f"not JSON ({fault})") from None
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        raise ValueError('needs a JSON object with "id" and, as a string, "text"')
    if not isinstance(given.get("id"), str | int):
        raise ValueError('needs an "id" that is a string or a whole number')
    return given["id"], given["text"]


def _up_to_date(digest: str) -> int:
    from language.embedding import HashedPieces, embedder
    from language.heads import load, path_of

    status = 0
    for over in filter(None, (embedder(), HashedPieces())):
        try:
            same = load(path_of(over), over).digest == digest
        except (OSError, ValueError, KeyError):
            same = False
        typer.echo(f"{over.name}: {'up to date' if same else 'not of these examples; run interlock understand train'}")
        status = status if same else 1
    return status


def _train(examples: "Sequence[Example]", cache: Path | None) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from language.embedding import HashedPieces, embedder
    from language.examples import digest_over
    from language.heads import path_of, save
    from language.training import CannotTrain, in_pairs, train, vectors_of

    if (meaning := embedder()) is None:
        typer.echo("the extra `embeddings` is not installed: only the heads over spelling are trained", err=True)
    digest = digest_over(examples)
    examples = (*examples, *in_pairs(examples))
    for over in filter(None, (meaning, HashedPieces())):
        with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
            task = bar.add_task(over.name, total=len(examples))
            rows = vectors_of(examples, over, cache if over is meaning else None, partial(bar.advance, task))
        try:
            heads = train(examples, over, rows, digest)
        except CannotTrain as fault:
            raise failed("understand train", fault, 1) from None
        save(path_of(over), heads)
        typer.echo(f"{over.name}: {len(examples)} examples, {json.dumps(heads.measured['all'])} on what was left out")
