"""The shop's command line: what can be set, and the one-line errors for what cannot be used.

It puts the shop together and ends with an exit code that means something.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from demo.shop.app import make_app
from demo.shop.database import DataFileError, is_empty, open_database
from demo.shop.open_shop import Keys, Shop
from demo.shop.serving import listen, serve
from demo.shop.settings import keys_from_environment
from demo.shop.world_file import WorldFileError
from demo.shop.world_source import WorldSource
from demo.shop.writes import Contract

EPILOG = """\
The data file is made at the first start and survives restarts; POST /_reset makes a fresh world.
Exit codes: 0 stopped by a signal, 1 something cannot be used (port, data file, world file), 2 wrong arguments."""


def make_parser() -> argparse.ArgumentParser:
    """Every option of the shop, with its help."""
    parser = argparse.ArgumentParser(
        prog="python -m demo.shop",
        description="The demo shop: orders, payments and subscriptions behind an HTTP API that can misbehave.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    world = "another world for an empty shop, as GET /_world gives it, or of the shape {products, users, orders}"
    option("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    option("--port", type=_port, default=0, help="port to listen on; 0, the default, takes a free one")
    option("--data", type=Path, required=True, metavar="FILE.db", help="the shop's SQLite database")
    option("--world", type=Path, metavar="FILE.json", help=world)
    option("--check-world", action="store_true", help="load the --world into a shop of its own, and end")
    option("--retail-tenant", default="retail", metavar="ID", help="who a retail world belongs to (%(default)s)")
    option("--read-key", metavar="K", help="key for reads (or SHOP_READ_KEY)")
    option("--write-key", metavar="K", help="key for writes (or SHOP_WRITE_KEY)")
    option("--ready-file", type=Path, metavar="FILE", help="gets {url, pid}, in one rename, once the shop listens")
    window, bound = "how long keys are kept (%(default)s)", "refuse a write older than this (%(default)s)"
    option("--key-window-s", type=_seconds, default=86_400, metavar="S", help=window)
    option("--late-commit-bound-s", type=_seconds, default=30, metavar="S", help=bound)
    option(
        "--carrier-delay-s", type=_delay, default=0, metavar="S", help="how long a carrier takes to answer (at once)"
    )
    option("--log-level", default="info", choices=("debug", "info", "warning", "error"), help="(%(default)s)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the shop until a signal; returns the exit code."""
    parser = make_parser()
    given = parser.parse_args(argv)
    if given.check_world:
        return _checked(WorldSource(given.world, given.retail_tenant))
    keys = keys_from_environment()
    read, write = given.read_key or keys[0], given.write_key or keys[1]
    if not read or not write or read == write:
        parser.error("two different keys are required: --read-key and --write-key, or SHOP_READ_KEY and SHOP_WRITE_KEY")
    logging.basicConfig(level=given.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(max(logging.WARNING, logging.getLogger().level))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stopped_before_serving)
    try:
        _run(given, Keys(read, write))
    except (WorldFileError, DataFileError, OSError) as error:
        print(f"shop: {error}", file=sys.stderr)
        return 1
    return 0


def _checked(source: WorldSource) -> int:
    """0 where a shop would start with this world; else 1, and what is wrong with it."""
    try:
        with TemporaryDirectory(prefix="interlock-world-") as folder:
            source.load_into(open_database(Path(folder) / "shop.db"))
    except (WorldFileError, DataFileError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run(given: argparse.Namespace, keys: Keys) -> None:
    source = WorldSource(given.world, given.retail_tenant)
    if source.path:
        source.fresh()
    if given.ready_file:
        if not given.ready_file.parent.is_dir():
            raise OSError(f"ready file {given.ready_file}: its directory does not exist")
        given.ready_file.unlink(missing_ok=True)
    with listen(given.host, given.port) as sock:
        db = open_database(given.data)
        if is_empty(db):
            source.load_into(db)
        elif source.path:
            print(f"shop: {given.data} holds a world already; POST /_reset loads {source.path}", file=sys.stderr)
        contract = Contract(given.key_window_s, given.late_commit_bound_s)
        shop = Shop(db, keys, contract, source, given.carrier_delay_s)
        serve(make_app(shop), sock, given.ready_file)


def _stopped_before_serving(number: int, frame: object) -> None:
    """Uvicorn raises its signal once more when it has stopped; by then there is nothing left to do."""


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)


def _delay(text: str) -> float:
    return 0 if text == "0" else _seconds(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 10**7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return int(seconds) if seconds == int(seconds) else seconds
