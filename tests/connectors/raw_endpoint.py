"""A model endpoint down to its bytes: each connection gets the next of the answers that a test has laid out."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from connectors.model_endpoints.addresses import Address

Act = Callable[[asyncio.StreamWriter], Awaitable[None]]
KEY = "sk-not-to-be-seen"
SILENCE_S = 60  # far beyond what anybody waits, however busy the machine


@dataclass
class RawEndpoint:
    """What runs: its address, and what it was asked."""

    port: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    @property
    def address(self) -> Address:
        return Address(base_url=f"http://127.0.0.1:{self.port}/v1", key=SecretStr(KEY))


def answer(status: int, body: bytes, length: int | None = None, headers: str = "") -> Act:
    """An HTTP answer; a `length` beyond the body's leaves the rest out and hangs up."""

    async def act(writer: asyncio.StreamWriter) -> None:
        size = len(body) if length is None else length
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{headers}Content-Length: {size}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()

    return act


def completion(text: str, finish: str = "stop", tokens: tuple[int, int] | None = (100, 10), **message: Any) -> Act:
    """A whole completion."""
    told: dict[str, Any] = {"choices": [{"finish_reason": finish, "message": {"content": text, **message}}]}
    if tokens is not None:
        told["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return answer(200, json.dumps(told).encode())


async def silence(writer: asyncio.StreamWriter) -> None:
    """Nothing, for longer than anybody waits."""
    await asyncio.sleep(SILENCE_S)


async def byte_by_byte(writer: asyncio.StreamWriter) -> None:
    """Headers at once, then a blank now and then: alive, and of no use."""
    await answer(200, b"", length=10_000)(writer)
    for _ in range(10_000):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def hung_up(writer: asyncio.StreamWriter) -> None:
    """The connection is reset before any answer."""
    writer.transport.abort()


@asynccontextmanager
async def endpoint(answers: Sequence[Act]) -> AsyncIterator[RawEndpoint]:
    """Serve `answers`, one a connection and the last one from then on."""
    told = RawEndpoint()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            size = next(int(line[15:]) for line in head.splitlines() if line.lower().startswith("content-length:"))
            told.heads.append(head)
            told.bodies.append(json.loads(await reader.readexactly(size)))
            await answers[min(len(told.bodies), len(answers)) - 1](writer)
        writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    told.port = server.sockets[0].getsockname()[1]
    try:
        yield told
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
