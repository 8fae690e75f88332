"""The servers of these laws, once a session, and one stage a module; a module may set `SETTINGS` of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio

from tests.demo.conftest import ShopProcess
from tests.postgres import Postgres
from tests.workflows import servers
from tests.workflows.histories import check
from tests.workflows.scene import Scene
from tests.workflows.stage import Stage, playing, settings_of

Begin = Callable[[], Awaitable[Scene]]


@pytest.fixture(scope="session")
def temporal() -> Iterator[str]:
    with servers.temporal() as address:
        yield address


@pytest.fixture(scope="session")
def database(postgres: Postgres) -> Iterator[Postgres]:
    with servers.database(postgres) as made:
        yield made


@pytest.fixture(scope="session")
def shop_process() -> Iterator[ShopProcess]:
    with servers.shop() as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(
    request: pytest.FixtureRequest, database: Postgres, temporal: str, shop_process: ShopProcess
) -> AsyncIterator[Stage]:
    other = getattr(request.module, "SETTINGS", {})
    async with playing(settings_of(database, temporal, str(shop_process.http.base_url), **other), shop_process) as s:
        yield s
        await check(s.scenes)


@pytest_asyncio.fixture(loop_scope="module")
async def scene(stage: Stage) -> Scene:
    """A conversation in which nothing has been said."""
    return await Scene(stage).begin()
