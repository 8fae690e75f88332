"""A circuit for each model of an endpoint: after so many failures in a row it is left alone for a while, then probed.

Kept in this process's memory; only what speaks against the endpoint counts, never what one request did wrong.
"""

import asyncio
from collections.abc import Awaitable, Callable

from purgatory import AsyncCircuitBreakerFactory
from purgatory.domain.model import HALF_OPENED, OpenedState

from connectors.model_endpoints.answers import Reply
from connectors.model_endpoints.book import Endpoint
from domain.model import ModelOutcome

_AGAINST_THE_ENDPOINT = frozenset(
    {ModelOutcome.TIMEOUT, ModelOutcome.UNREACHABLE, ModelOutcome.RATE_LIMITED, ModelOutcome.SERVER_ERROR}
)
_ITS_DOING = frozenset(
    {"http_401", "http_403", "http_404", "connection_lost", "no_completion", "too_large", "compressed"}
)
_OPEN = Reply(outcome=ModelOutcome.CIRCUIT_OPEN, label="circuit_open")


class _Failed(Exception):
    """A call that counts against its circuit."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.label)
        self.reply = reply


class _ProbeCancelled(Exception):
    """A probe that nobody waited for: it has not shown that the endpoint is well, so the circuit stays open."""


class Circuits:
    """The circuits of all models, by name."""

    def __init__(self) -> None:
        self._factory = AsyncCircuitBreakerFactory(exclude=[asyncio.CancelledError])
        self._probed: set[str] = set()

    async def through(self, name: str, endpoint: Endpoint, call: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the reply of `call`, or CIRCUIT_OPEN without having called."""
        if name in self._probed:  # one probe at a time: what is on its knees is not met by everybody at once
            return _OPEN
        probes = False
        circuit = await self._factory.get_breaker(name, endpoint.failures_to_open, endpoint.open_s)
        try:
            async with circuit:
                if circuit.context.state == HALF_OPENED:
                    probes = True
                    self._probed.add(name)
                reply = await (_seen_through(call) if probes else call())
                if counts(reply):
                    raise _Failed(reply)
                return reply
        except OpenedState as opened:
            opened.__traceback__ = None  # it is one object, raised again and again
            return _OPEN
        except _Failed as failed:
            return failed.reply
        except _ProbeCancelled:
            raise asyncio.CancelledError from None
        finally:
            if probes:
                self._probed.discard(name)


async def _seen_through(probe: Callable[[], Awaitable[Reply]]) -> Reply:
    try:
        return await probe()
    except asyncio.CancelledError:
        raise _ProbeCancelled from None


def counts(reply: Reply) -> bool:
    """Whether a reply speaks against the endpoint, so that asking it again soon is of no use."""
    return reply.outcome in _AGAINST_THE_ENDPOINT or reply.label in _ITS_DOING
