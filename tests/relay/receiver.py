"""A tenant's receiver of webhooks: a real server that keeps what it is sent, and answers as it is told to."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

OK = b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def answer(status: int, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {status} X\r\n{lines}content-length: 0\r\nconnection: close\r\n\r\n".encode()


@dataclass(frozen=True)
class Posted:
    """One request as it came."""

    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def ident(self) -> str:
        return self.headers["webhook-id"]

    def signed_by(self, secret: str) -> bool:
        """Whether the signature fits, reckoned by hand."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        to_sign = f"{self.ident}.{self.headers['webhook-timestamp']}.".encode() + self.raw
        mac = base64.b64encode(hmac.new(key, to_sign, hashlib.sha256).digest()).decode()
        return self.headers["webhook-signature"] == f"v1,{mac}"


@dataclass
class Receiver:
    """Answers with what is next of `answers`, and 204 once there is none."""

    url: str = ""
    posts: list[Posted] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)
    slow: asyncio.Event | None = None  # where set: it answers only once that is
    at_once: int = 0
    at_once_max: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.at_once += 1
        self.at_once_max = max(self.at_once, self.at_once_max)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:-2]
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head)}
            raw = await reader.readexactly(int(headers["content-length"]))
            self.posts.append(Posted(headers, raw))
            if self.slow is not None:
                await self.slow.wait()
            writer.write(self.answers.pop(0) if self.answers else OK)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.at_once -= 1
            writer.close()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """Serve on a free port of this machine."""
    receiver = Receiver()
    server = await asyncio.start_server(receiver.handle, "127.0.0.1", 0)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook?of=us"
    try:
        yield receiver
    finally:
        if receiver.slow is not None:
            receiver.slow.set()
        server.close()
        await server.wait_closed()
