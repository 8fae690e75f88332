"""`python -m tests.scripted_model [--port N] [--script NAME] [--ready-file F]`: serve until SIGINT or SIGTERM.

The ready file gets `{base_url, control_url}` once the server listens; exit status 2 for a script that there is not.
"""

import argparse
import asyncio
import json
import logging
import socket
import sys
from pathlib import Path

import uvicorn

from tests.scripted_model.app import app_of
from tests.scripted_model.scripts import NAMES

LOOPBACK = "127.0.0.1"


def main() -> int:
    """Serve, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.scripted_model", description="Play a model by a script.")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 (the default) takes a free one")
    parser.add_argument("--script", default="good", metavar="NAME", help=f"one of: {', '.join(NAMES)}")
    parser.add_argument("--ready-file", type=Path, metavar="F", help="gets the addresses once the server listens")
    said = parser.parse_args()
    try:
        app = app_of(said.script)
    except ValueError as fault:
        print(f"scripted_model: {fault}", file=sys.stderr)
        return 2
    listening = socket.create_server((LOOPBACK, said.port))
    url = f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    if said.ready_file is not None:
        _write(said.ready_file, {"base_url": f"{url}/v1", "control_url": url})
    print(f"scripted_model: plays {said.script} at {url}/v1", file=sys.stderr)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # bodies that break off do so on purpose
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))
    return 0


def _write(path: Path, told: dict[str, str]) -> None:
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(told))
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
