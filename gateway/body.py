"""Bodies are read here, whole and within their limit, before anything else looks at a request.

A body that is too large is read no further than a client needs in order to hear the answer; none of it is kept.
"""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.problems import problem
from gateway.refusals import BodyTooLarge, RequestTimeout

DRAIN_BYTES_MAX = 4_194_304  # a client that is still sending would see a reset connection instead of the answer
DRAIN_S_MAX = 5.0
BODY_S_MAX = 30.0


@dataclass(frozen=True)
class Limit:
    """Reads a body of at most `bytes_max`, whether or not its length was announced."""

    app: ASGIApp
    bytes_max: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its whole body, or answer 413."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_S_MAX):
                body = None if _announced(scope) > self.bytes_max else await _read(receive, self.bytes_max)
        except TimeoutError:
            slow = RequestTimeout(f"A body has {BODY_S_MAX:.0f} seconds to come.")
            await problem(Request(scope), slow, {"Connection": "close"})(scope, receive, send)
            return
        if isinstance(body, Gone):
            return
        if body is None:
            await self._refuse(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(DRAIN_S_MAX):
                heard = await _read(receive, DRAIN_BYTES_MAX, keep=False)
        except TimeoutError:
            heard = None
        headers = {} if heard == b"" else {"Connection": "close"}
        no = BodyTooLarge(f"At most {self.bytes_max} bytes are read here.", limit_bytes=self.bytes_max)
        await problem(Request(scope), no, headers)(scope, receive, send)


class Gone:
    """The client went away before its body had come."""


def _announced(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() and len(lengths[0]) < 19 else 0


async def _read(receive: Receive, bytes_max: int, *, keep: bool = True) -> bytes | Gone | None:
    """Return the body (empty where nothing is to be kept), or None where it is longer than `bytes_max`."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return Gone()
        part = message.get("body", b"")
        size += len(part)
        if size > bytes_max:
            return None
        if keep:
            parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
