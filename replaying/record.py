"""Records the golden histories anew, from a checkout: `python -m replaying.record [NAME ...] [--into FOLDER]`.

Plays the scenes of `tests/workflows/golden.py` over a Postgres, a Temporal and a shop of their own, and keeps the
histories. Do this when a scene is added, never to make a replay pass: a history that no longer replays is a workflow
in production that no longer does (INVARIANT 10). Version the change with `workflow.patched` instead.
"""

import argparse
import sys
from pathlib import Path


def main() -> int:
    """Record the scenes named, or all; prints the files. Exit status: 0 recorded, 2 no such scene."""
    from tests.workflows.golden import HISTORIES, SCENES, record

    parser = argparse.ArgumentParser(prog="python -m replaying.record", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"scenes; default: all of {', '.join(SCENES)}")
    parser.add_argument("--into", type=Path, default=HISTORIES, metavar="FOLDER", help="default: %(default)s")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in SCENES]:
        parser.error(f"no such scene: {', '.join(unknown)}")
    given.into.mkdir(parents=True, exist_ok=True)
    for file in record(given.names or list(SCENES), given.into):
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
