"""Whole conversations, as scripts, over the real store, the real workflow engine and the real shop."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from settings import Settings
from tests.demo.conftest import ShopProcess
from tests.postgres import Postgres
from tests.whole.playing import Player
from tests.whole.scripts import SCRIPTS, load
from tests.workflows import servers
from tests.workflows.histories import check
from tests.workflows.scene import Scene
from tests.workflows.stage import Stage, playing, settings_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def shop() -> Iterator[ShopProcess]:
    with servers.shop() as process:
        yield process


@pytest.fixture(scope="module")
def settings(postgres: Postgres, shop: ShopProcess) -> Iterator[Settings]:
    with servers.database(postgres) as database, servers.temporal() as temporal:
        yield settings_of(database, temporal, str(shop.http.base_url))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(settings: Settings, shop: ShopProcess) -> AsyncIterator[Stage]:
    async with playing(settings, shop) as furnished:
        yield furnished
        await check(furnished.scenes)


@pytest.mark.parametrize("path", SCRIPTS, ids=[p.stem for p in SCRIPTS])
async def test_a_conversation_comes_to_what_its_people_meant(stage: Stage, path: Path) -> None:
    scene, other = await Scene(stage).begin(), Scene(stage)
    names = {str(k): scene.person.order(k) for k in range(1, 5)} | {"other": other.person.order(1)}
    await Player(scene, load(path, names)).play()
