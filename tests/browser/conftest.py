"""One product and one browser for all tests of this room; each test gets a house with windows of its own."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.chromium import ADVICE, chromium, in_ci
from tests.browser.house import House, browsing
from tests.browser.world import write_world
from tests.whole.running import ROOT, Product, running

SEEN = ROOT / "build" / "browser"
TOLD = pytest.StashKey[pytest.CallInfo[None]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    if call.when == "call":
        item.stash[TOLD] = call
    return (yield)


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A running `interlock dev`."""
    if chromium() is None and not in_ci():
        pytest.skip(ADVICE)
    home = tmp_path_factory.mktemp("browser")
    with running(home / "data", "--shop-world", str(write_world(home / "world.json"))) as it:
        yield it


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(product: Product) -> AsyncIterator[Browser]:
    async with browsing() as it:
        yield it


@pytest_asyncio.fixture(loop_scope="session")
async def house(request: pytest.FixtureRequest, product: Product, browser: Browser) -> AsyncIterator[House]:
    it = House(product, browser)
    yield it
    call = request.node.stash.get(TOLD, None)
    fine = call is not None and call.excinfo is None and not it.onlooker.complaints
    await it.close(None if fine else _folder_of(request.node.name))
    assert it.onlooker.complaints == []


def _folder_of(test: str) -> Path:
    place = SEEN / re.sub(r"[^A-Za-z0-9]+", "-", test).strip("-")
    place.mkdir(parents=True, exist_ok=True)
    return place
