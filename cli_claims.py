"""The commands on claims: read drafts and say which of them claim or promise something, and train what finds them.

Mounted by `cli`; rooms are imported inside the commands.
"""

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli_ends import failed, given_lines

if TYPE_CHECKING:
    from language.claims_training import LeftOut

app = typer.Typer(
    name="claims",
    help="Which drafts say or promise that something was or will be done: read them from standard input.",
    invoke_without_command=True,
)


@app.callback()
def claims(context: typer.Context) -> None:
    """Read lines of {"id", "text"} on standard input; write {"id", "claims_action"} for each, as it comes.

    Without the extra `embeddings` only the words known of six languages are looked for, and it says so.
    Exit status: 0 every line was read, 1 a line was no such object (said on standard error, with its number).
    """
    if context.invoked_subcommand is None:
        raise typer.Exit(_answer(given_lines("claims")))


@app.command()
def train(
    check: Annotated[bool, typer.Option("--check", help="Keep nothing: measure the examples as they are.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Train on language/data/claims and keep it in language/data/heads; print how languages left out are read.

    Exit status: 0 trained, 1 the extra `embeddings` is not installed.
    """
    from language.claims import HEAD, save
    from language.claims_training import examples
    from language.claims_training import train as trained
    from language.embedding import embedder

    over = embedder()
    if over is None:
        raise failed("claims train", RuntimeError("training needs embeddings: install the extra `embeddings`"), 1)
    found = trained(over, examples())
    if not check:
        save(HEAD, found.head)
    if as_json:
        typer.echo(json.dumps([row.model_dump() for row in found.left_out], indent=2))
    else:
        _show(found.left_out)


def _answer(lines: Iterable[str]) -> int:
    """Answer line by line; returns the exit status."""
    from language.free_text import detector
    from policy.reply.claims import claims_in_words

    by_meaning, status = detector(), 0
    if by_meaning is None:
        typer.echo("interlock claims: the extra `embeddings` is not installed; by known words only", err=True)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            ident, text = _draft(line)
        except ValueError as fault:
            typer.echo(f"interlock claims: line {number}: {fault}", err=True)
            status = 1
            continue
        found = claims_in_words(text) or (by_meaning is not None and by_meaning(text, ""))
        sys.stdout.write(json.dumps({"id": ident, "claims_action": found}, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    return status


def _draft(line: str) -> tuple[Any, str]:
    """Return the id and the text of a line. Raises ValueError saying what would be right."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        raise ValueError('needs a JSON object with "id" and, as a string, "text"')
    if not isinstance(given.get("id"), str | int):
        raise ValueError('needs an "id" that is a string or a whole number')
    return given["id"], given["text"]


def _show(rows: "tuple[LeftOut, ...]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Read by what was learned from other languages and at other places")
    for heading in ("language", "claims", "found", "others", "false alarms"):
        table.add_column(heading, justify="left" if heading == "language" else "right")
    for row in rows:
        table.add_row(row.language, *map(str, (row.claims, row.found, row.others, row.false_alarms)))
    claims, found = sum(r.claims for r in rows), sum(r.found for r in rows)
    others, alarms = sum(r.others for r in rows), sum(r.false_alarms for r in rows)
    table.add_row(
        "all", str(claims), f"{found} ({found / claims:.3f})", str(others), f"{alarms} ({alarms / others:.3f})"
    )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
