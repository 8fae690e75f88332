"""The tables of an evaluation, for a person to read.

Prints; knows no more than the counts that it is given.
"""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from domain.share import Share
from evals.understanding import Measured


def show(measured: Measured, console: Console) -> None:
    """Print every table that has a row."""
    totals = {
        "intent (accuracy)": measured.intent,
        "all intents of several": measured.all_intents,
        "language": measured.language,
        "asks for a person: recall": measured.person_recall,
        "asks for a person: false alarms": measured.person_false_alarms,
        "out of scope: handed off": measured.outside_handed_off,
        "in scope: handed off all the same": measured.inside_handed_off,
    }
    _print(console, f"{measured.rows} rows", {"share [95 %]": {k: v for k, v in totals.items() if v.of}})
    _print(console, "intent", {"recall": measured.by_class, "precision": measured.precision})
    _print(
        console,
        "language",
        {
            "intent (accuracy)": measured.by_language,
            "person: recall": measured.person_recall_by_language,
            "person: false alarms": measured.person_false_alarms_by_language,
        },
    )
    console.print("routes: " + ", ".join(f"{route} {n}" for route, n in sorted(measured.routes.items())))


def _print(console: Console, title: str, columns: Mapping[str, Mapping[str, Share]]) -> None:
    filled = {name: shares for name, shares in columns.items() if shares}
    if not filled:
        return
    table = Table(title, *filled, box=None, header_style="bold", pad_edge=False)
    for name in dict.fromkeys(name for shares in filled.values() for name in shares):
        table.add_row(name, *(shares[name].told() if name in shares else "–" for shares in filled.values()))
    console.print(table)
    console.print()
