"""Runs the app on uvicorn, with two things that uvicorn lacks: a connection that can be cut, and a ready file.

Nothing here knows about shops.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path

from fastapi import FastAPI, Request, Response
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol


class CuttableProtocol(H11Protocol):
    """HTTP/1.1 whose transport the handlers can reach, as `request.state.transport`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Puts the transport where every request of this connection finds it."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


async def cut(request: Request) -> Response:
    """Ends the connection without one byte of an answer; what is returned reaches nobody."""
    request.state.transport.abort()
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response()


class ReadyServer(Server):
    """A server that says where it listens once it does."""

    def __init__(self, config: Config, url: str, ready_file: Path | None) -> None:
        super().__init__(config)
        self._url, self._ready_file = url, ready_file

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, then prints the address and writes the ready file in one rename."""
        await super().startup(sockets)
        print(f"shop ready at {self._url}", flush=True)
        if self._ready_file:
            draft = self._ready_file.with_name(self._ready_file.name + ".tmp")
            draft.write_text(json.dumps({"url": self._url, "pid": os.getpid()}))
            draft.replace(self._ready_file)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises OSError where the port is taken, with one line that says so."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(512)
        except OSError:
            sock.close()
            raise
    except OSError as error:
        raise OSError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return sock


def url_of(sock: socket.socket) -> str:
    """The address of a listening socket as a URL."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: FastAPI, sock: socket.socket, ready_file: Path | None) -> None:
    """Serves until SIGINT or SIGTERM; waiting requests get three seconds, then their connection ends."""
    config = Config(
        app, http=CuttableProtocol, ws="none", loop="asyncio", lifespan="on", log_config=None, access_log=False,
        timeout_keep_alive=75, timeout_graceful_shutdown=3, server_header=False,
    )  # fmt: skip
    ReadyServer(config, url_of(sock), ready_file).run(sockets=[sock])
