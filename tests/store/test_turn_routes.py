"""Laws of the count of routes: every understood turn is in it once, of its own tenant alone."""

from datetime import UTC, datetime, timedelta

from domain.conversation import EventKind
from domain.model import Route
from store.log import append_behind, lock_conversation
from store.turn_routes import RouteCount, turns_by_route
from tests.store.world import Talk


async def understood(talk: Talk, route: str, step: str) -> None:
    await talk.say()
    async with talk.db.transaction(talk.tenant) as tx:
        row = await lock_conversation(tx, talk.id)
        await append_behind(tx, row, [(EventKind.UNDERSTANDING, {"route": route, "step": step})])


async def test_turns_are_counted_by_route_with_those_that_went_to_a_person(talk: Talk) -> None:
    for route, step in [("rules", "answer"), ("rules", "hand_off"), ("small", "hand_off")]:
        await understood(talk, route, step)
    counts = [c for c in await turns_by_route(talk.db, [talk.tenant], None) if c.route in (Route.RULES, Route.SMALL)]
    by_route = {c.route: c for c in counts}
    assert by_route[Route.RULES].turns >= 2
    assert by_route[Route.SMALL] == RouteCount(tenant_id=talk.tenant, route=Route.SMALL, turns=1, handed_off=1)
    assert await turns_by_route(talk.db, [talk.tenant], datetime.now(UTC) + timedelta(hours=1)) == []
