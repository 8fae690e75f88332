"""Gates before and after activities: a scene holds one, does something meanwhile, and lets it go.

An interceptor of the worker, so that the activities themselves stay the real ones.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from domain.errand import Errand

PATIENCE_S = 8.0


@dataclass
class Gate:
    """One activity of one conversation or action, held once."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def until_reached(self) -> None:
        await asyncio.wait_for(self.reached.wait(), PATIENCE_S)

    def open(self) -> None:
        self.opened.set()


class Gates(Interceptor):
    """All gates of a worker, by (activity, id, before or after)."""

    def __init__(self) -> None:
        self._gates: dict[tuple[str, str, str], Gate] = {}

    def before(self, errand: Errand, ident: str) -> Gate:
        """Hold the next such activity of that conversation or action before it begins."""
        return self._gates.setdefault((errand.value, ident, "before"), Gate())

    def after(self, errand: Errand, ident: str) -> Gate:
        """Hold the next such activity after it has done its work, before Temporal hears of it."""
        return self._gates.setdefault((errand.value, ident, "after"), Gate())

    async def pass_through(self, ask: Any, when: str) -> None:
        for ident in _idents(ask):
            gate = self._gates.pop((activity.info().activity_type, ident, when), None)
            if gate is not None:
                gate.reached.set()
                await asyncio.wait_for(gate.opened.wait(), PATIENCE_S)

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Gated(next, self)


class _Gated(ActivityInboundInterceptor):
    def __init__(self, inner: ActivityInboundInterceptor, gates: Gates) -> None:
        super().__init__(inner)
        self._gates = gates

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        await self._gates.pass_through(input.args[0], "before")
        result = await self.next.execute_activity(input)
        await self._gates.pass_through(input.args[0], "after")
        return result


def _idents(ask: Any) -> list[str]:
    """What a gate may be named by: the conversation's id, the operation's."""
    bearers = (ask, getattr(ask, "fence", None))
    found = [getattr(b, name, None) for b in bearers for name in ("conversation_id", "operation_id")]
    return [i for i in found if i]
