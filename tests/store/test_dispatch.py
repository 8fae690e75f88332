from domain.action import ActionState
from tests.store.world import Talk


async def test_whole_way(talk: Talk) -> None:
    op = await talk.claimed()
    assert await talk.settle(op) is ActionState.CONFIRMED
    for e in await talk.log():
        print(e)
