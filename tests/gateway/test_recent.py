"""Laws of what is counted for many: once for all who ask together, for one tenant alone, and never a failure again."""

import asyncio

import pytest

from gateway.recent import KEPT_MAX, Recent


class Counting:
    def __init__(self) -> None:
        self.times, self.now, self.fails = 0, 0.0, False

    async def __call__(self) -> int:
        self.times += 1
        await asyncio.sleep(0)
        if self.fails:
            raise ConnectionError
        return self.times


async def test_all_who_ask_together_get_one_count_and_later_ones_another() -> None:
    counting = Counting()
    recent: Recent[int] = Recent(10.0, lambda: counting.now)
    assert await asyncio.gather(*(recent.of("a", "k", counting) for _ in range(5))) == [1] * 5
    counting.now = 9.9
    assert await recent.of("a", "k", counting) == 1
    counting.now = 10.0
    assert await recent.of("a", "k", counting) == 2


async def test_no_count_is_given_to_another_tenant_or_for_another_question() -> None:
    counting = Counting()
    recent: Recent[int] = Recent()
    found = [await recent.of(tenant, key, counting) for tenant in ("a", "b") for key in ("k", "l")]
    assert found == [1, 2, 3, 4]


async def test_a_count_that_failed_is_made_again_and_one_who_leaves_ends_nobody_elses() -> None:
    counting = Counting()
    recent: Recent[int] = Recent()
    counting.fails = True
    with pytest.raises(ConnectionError):
        await recent.of("a", "k", counting)
    counting.fails = False
    leaving = asyncio.create_task(recent.of("a", "k", counting))
    await asyncio.sleep(0)
    staying = asyncio.create_task(recent.of("a", "k", counting))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 2
    for n in range(2 * KEPT_MAX):
        await recent.of("a", str(n), counting)
    assert len(recent._counts) <= KEPT_MAX
