"""The owner's database, and a tenant under the small base."""

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from store.database import Database
from store.policies import NewBundle, put_base
from tests.conftest import MakeTenant, put_in_force
from tests.postgres import Postgres
from tests.publishing.books import BOOK, FILES


@pytest.fixture
async def owner_db(postgres: Postgres) -> AsyncIterator[Database]:
    """The owner's role, as the operator's commands have it."""
    database = Database(postgres.owner_url, 1)
    yield database
    await database.close()


@pytest.fixture
async def tenant(owner_db: Database, owner: psycopg.Connection[Any], make_tenant: MakeTenant) -> str:
    """A tenant under the base that comes with the product."""
    m = BOOK.manifest
    await put_base(
        owner_db,
        NewBundle(digest=BOOK.digest, bundle_id=m.id, version=m.version, manifest={}, files=dict(FILES)),
    )
    made = make_tenant()
    put_in_force(owner, made, BOOK.digest)
    return made
