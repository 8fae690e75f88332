"""The tour's command line: its two options, its exit status, and one line where it cannot be played."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from demo.tour.doors import Stack, read_ready
from demo.tour.faults import CannotPlay
from demo.tour.scenes import SCENES
from demo.tour.stage import Stage, play_all
from demo.tour.teller import Outcome, Teller

EPILOG = (
    "Exit status: 0 every scene ended as it should, 1 one did not, 2 there is no stack to play against, 130 stopped."
)


def make_parser() -> argparse.ArgumentParser:
    """Return the options with their help."""
    parser = argparse.ArgumentParser(
        prog="python -m demo.tour", description="A guided tour of a running stack, in seven scenes.", epilog=EPILOG
    )
    parser.add_argument("--ready", type=Path, required=True, metavar="FILE", help="the ready file of `interlock dev`")
    parser.add_argument("--fast", action="store_true", help="no pauses for reading")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Play the tour; return the exit status."""
    given = make_parser().parse_args(argv)
    try:
        return _tour(Stack(read_ready(given.ready)), Teller(), given.fast)
    except CannotPlay as fault:
        print(f"tour: {fault}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tour: stopped", file=sys.stderr)
        return 130


def _tour(stack: Stack, teller: Teller, fast: bool) -> int:
    began = time.monotonic()
    try:
        outcomes = play_all(Stage(stack, teller, fast), SCENES)
    finally:
        stack.close()
    teller.table(outcomes)
    return _closing(teller, outcomes, time.monotonic() - began)


def _closing(teller: Teller, outcomes: Sequence[Outcome], took_s: float) -> int:
    failed = sum(bool(each.wrong) for each in outcomes)
    if failed:
        teller.close(f"✘ {failed} of {len(outcomes)} scenes did not end as they should, in {took_s:.0f} s.", "bold red")
        return 1
    teller.close(f"✔ All {len(outcomes)} scenes ended as they should, in {took_s:.0f} s.", "bold green")
    return 0
