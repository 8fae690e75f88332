"""One conversation as a customer has it: messages go in by POST, the log comes back as an event stream.

A turn lasts from the first byte of the POST to the moment at which its `bot_reply` has been read from the stream.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.customers import Customer
from bench.wire import BenchFault, Json, Wire

PATIENCE_S = 30.0


class Chat:
    """One conversation that is being followed."""

    def __init__(self, api: Wire, customer: Customer, conversation_id: str) -> None:
        self._api, self._customer, self.id = api, customer, conversation_id
        self._answered_seq, self._answered_at = 0, 0.0
        self._moved = asyncio.Event()

    async def turn_s(self) -> float:
        """Ask, wait for the reply, and return the seconds between the two. Raises BenchFault."""
        began_at = time.perf_counter()
        body = {"client_message_id": str(uuid.uuid4()), "text": self._customer.question}
        path = f"/conversations/{self.id}/messages"
        accepted = await self._api.ask("POST", path, self._customer.token, body)
        try:
            async with asyncio.timeout(PATIENCE_S):
                while self._answered_seq < accepted["seq"]:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            raise BenchFault(f"no reply came in conversation {self.id} within {PATIENCE_S:g} s") from None
        return self._answered_at - began_at

    async def follow(self, events: AsyncIterator[Json]) -> None:
        """Note each reply as it comes."""
        async for event in events:
            if event["kind"] == "bot_reply":
                self._answered_seq, self._answered_at = event["answers_through"], time.perf_counter()
                self._moved.set()


@asynccontextmanager
async def chatting(api: Wire, customer: Customer) -> AsyncIterator[Chat]:
    """Begin a conversation and follow it."""
    begun = await api.ask("POST", "/conversations", customer.token, {})
    chat = Chat(api, customer, begun["id"])
    async with api.events(f"/conversations/{chat.id}/events", customer.token) as events:
        following = asyncio.create_task(chat.follow(events))
        try:
            yield chat
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
