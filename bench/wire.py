"""A lean HTTP client for one purpose: to add as little as possible to what is measured.

Keeps connections alive, sends JSON, follows server-sent events; anything unexpected is a `BenchFault`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
TIMEOUT_S = 30.0


class BenchFault(Exception):
    """Something could not be measured; the message says what and why."""


class Wire:
    """Connections to one server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, method: str, path: str, token: str | None = None, body: Json | None = None) -> Json:
        """Return the JSON of a successful answer. Raises BenchFault for any other."""
        reader, writer = self._idle.pop() if self._idle else await self._connect()
        async with asyncio.timeout(TIMEOUT_S):
            writer.write(self._request(method, path, token, body))
            status, headers = await _head(reader)
            raw = await _body(reader, headers)
        self._idle.append((reader, writer))
        if not 200 <= status < 300:
            raise BenchFault(f"{method} {path} was answered {status}: {raw[:200]!r}")
        found: Json = json.loads(raw)
        return found

    @asynccontextmanager
    async def events(self, path: str, token: str) -> AsyncIterator[AsyncIterator[Json]]:
        """Open an event stream and give its events as they come."""
        reader, writer = await self._connect()
        try:
            writer.write(self._request("GET", path, token, None, accept="text/event-stream"))
            status, _ = await _head(reader)
            if status != 200:
                raise BenchFault(f"GET {path} was answered {status}")
            yield _events(reader)
        finally:
            writer.close()

    async def close(self) -> None:
        """Close what is idle."""
        for _, writer in self._idle:
            writer.close()
        self._idle.clear()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self._host, self._port)

    def _request(
        self, method: str, path: str, token: str | None, body: Json | None, accept: str = "application/json"
    ) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}:{self._port}", f"Accept: {accept}"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        return "\r\n".join([*lines, "", ""]).encode() + content


async def _head(reader: asyncio.StreamReader) -> tuple[int, Mapping[str, str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split(" ", 2)[1]), {name.lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    return b"".join([chunk async for chunk in _chunks(reader)])


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int(await reader.readline(), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)


async def _events(reader: asyncio.StreamReader) -> AsyncIterator[Json]:
    text = b""
    async for chunk in _chunks(reader):
        text += chunk
        while b"\n\n" in text:
            frame, _, text = text.partition(b"\n\n")
            data = [line[6:] for line in frame.split(b"\n") if line.startswith(b"data: ")]
            if data:
                yield json.loads(b"\n".join(data))
