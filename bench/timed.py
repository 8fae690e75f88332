"""One conversation with a clock beside it: when the customer sees the first sign, the answer, the outcome.

A sign is anything that is said to the customer, content what is more than an acknowledgement; an answer answers through
the message, or brings a person.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bench.wire import BenchFault, Json, Wire

PATIENCE_S = 45.0
_SIGNS = frozenset({"notice", "bot_reply", "proposal", "handoff"})
_SETTLED = frozenset({"confirmed", "rejected"})


@dataclass(frozen=True)
class Timed:
    """Seconds from the POST of a message to the first sign, to content, to the answer; and what the answer was."""

    sign_s: float
    content_s: float
    answer_s: float
    answer: Json


@dataclass
class TimedChat:
    """One conversation that is being followed."""

    api: Wire
    token: str
    id: str
    heard: list[tuple[float, Json]] = field(default_factory=list)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def say(self, text: str) -> Timed:
        """Say something and wait for the answer. Raises BenchFault where none comes."""
        began_at = time.perf_counter()
        body = {"client_message_id": str(uuid.uuid4()), "text": text}
        seq: int = (await self.api.ask("POST", f"/conversations/{self.id}/messages", self.token, body))["seq"]
        answered_at, answer = await self._first(lambda e: _answers(e, seq))
        signed_at, _ = await self._first(lambda e: e["seq"] > seq and e["kind"] in _SIGNS)
        told_at, _ = await self._first(lambda e: e["seq"] > seq and e["kind"] in _SIGNS and not _acknowledges(e))
        signed_at, told_at = min(signed_at, answered_at), min(told_at, answered_at)
        return Timed(signed_at - began_at, told_at - began_at, answered_at - began_at, answer)

    async def approve(self, operation_id: str, payload_digest: str) -> float:
        """Consent to a proposal and return the seconds to its outcome. Raises BenchFault where none comes."""
        began_at = time.perf_counter()
        body = {"payload_digest": payload_digest, "decision": "approve"}
        await self.api.ask("POST", f"/actions/{operation_id}/approvals", self.token, body)
        settled_at, _ = await self._first(
            lambda e: e.get("operation_id") == operation_id and e.get("state") in _SETTLED
        )
        return settled_at - began_at

    async def follow(self, events: AsyncIterator[Json]) -> None:
        """Note each event as it comes."""
        async for event in events:
            self.heard.append((time.perf_counter(), event))
            self._moved.set()

    async def _first(self, wanted: Callable[[Json], bool]) -> tuple[float, Json]:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not (found := [(at, event) for at, event in self.heard if wanted(event)]):
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            raise BenchFault(f"conversation {self.id} waited in vain for {PATIENCE_S:g} s") from None
        return found[0]


def _acknowledges(event: Json) -> bool:
    return bool(event["kind"] == "notice" and event["notice"] == "acknowledged")


def _answers(event: Json, seq: int) -> bool:
    if event["kind"] == "owner_changed":
        return bool(event["owner"] == "human" and event["seq"] > seq)
    return int(event.get("answers_through", 0)) >= seq


@asynccontextmanager
async def timed_chat(api: Wire, token: str) -> AsyncIterator[TimedChat]:
    """Begin a conversation and follow it."""
    begun = await api.ask("POST", "/conversations", token, {})
    chat = TimedChat(api, token, begun["id"])
    async with api.events(f"/conversations/{chat.id}/events", token) as events:
        following = asyncio.create_task(chat.follow(events))
        try:
            yield chat
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
