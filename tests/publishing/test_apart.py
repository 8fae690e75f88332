"""Laws of examining apart: the same findings, within a time, and nothing goes on for somebody who has left."""

import asyncio
import time

import pytest

from domain.refusal import Refusal
from policy.bundle import BundleInvalid
from publishing.apart import Examiner
from publishing.examining import examine
from tests.publishing.books import FILES, STRICTER, layer


async def test_it_finds_what_examining_here_finds() -> None:
    assert await Examiner().examine(layer("t"), FILES) == examine(layer("t"), FILES)


async def test_what_is_wrong_comes_back_whole() -> None:
    with pytest.raises(BundleInvalid) as here:
        examine(layer("t", STRICTER.replace("_minor", "_major")), FILES)
    with pytest.raises(BundleInvalid) as apart:
        await Examiner().examine(layer("t", STRICTER.replace("_minor", "_major")), FILES)
    assert vars(apart.value) == vars(here.value)


async def test_one_that_takes_too_long_is_stopped_and_refused() -> None:
    with pytest.raises(BundleInvalid, match=r"within 0.01 seconds; .* interlock policy publish"):
        await Examiner(0.01).examine(layer("t"), FILES)


async def test_one_that_would_wait_too_long_for_others_is_told_to_come_again() -> None:
    examiner = Examiner(wait_seconds_max=0.05)
    first = asyncio.create_task(examiner.examine(layer("t"), FILES))
    await asyncio.sleep(0)
    with pytest.raises(Refusal, match="Try again in a minute"):
        await examiner.examine(layer("t"), FILES)
    assert (await first).failed == ()


async def test_one_that_nobody_waits_for_any_more_leaves_the_way_free() -> None:
    examiner = Examiner()
    waiting = asyncio.create_task(examiner.examine(layer("t"), FILES))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    began = time.monotonic()
    assert (await examiner.examine(layer("t"), FILES)).failed == ()
    assert time.monotonic() - began < 30
