"""`python -m bench [--json FILE] [--quick]`: starts a stack of its own, measures it, prints a table.

Exit status: 0 measured, 1 it could not be measured, 130 stopped.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

import psycopg
from rich.console import Console
from temporalio.service import RPCError

from bench.figures import show
from bench.measuring import FULL, QUICK, measure_all
from bench.wire import BenchFault


def main() -> int:
    """Measure and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Interlock beside its floors.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything: a look, not a measurement")
    asked = parser.parse_args()
    console = Console()
    try:
        with tempfile.TemporaryDirectory(prefix="interlock-bench-", ignore_cleanup_errors=True) as folder:
            figures = asyncio.run(measure_all(QUICK if asked.quick else FULL, Path(folder), console))
    except (BenchFault, OSError, EOFError, psycopg.Error, RPCError) as fault:
        print(f"bench: could not measure: {str(fault) or type(fault).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: stopped", file=sys.stderr)
        return 130
    show(figures, console)
    if asked.json is not None:
        asked.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
