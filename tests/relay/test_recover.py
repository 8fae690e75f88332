"""Laws of recovery: everything open gets its workflow, page by page, and what cannot be reached is counted."""

import pytest

from relay import recover as recovery
from relay.recover import recover
from store.database import Database
from tests.relay.conftest import KeepingWaker, talk


async def test_every_conversation_that_is_not_closed_is_woken_page_by_page(
    db: Database, relay_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "BATCH", 3)
    talks = {(await talk(db))[0].conversation_id for _ in range(7)}
    waker, pages = KeepingWaker(), list[int]()
    done = await recover(relay_db, waker, pages.append)
    assert talks <= {w.conversation_id for w in waker.woken}
    assert (done.failed, done.conversations) == (0, len(waker.woken))
    assert sum(pages) == done.conversations
    assert max(pages) <= 3


async def test_what_cannot_be_reached_is_counted_and_the_rest_goes_on(db: Database, relay_db: Database) -> None:
    (lost,), (found,) = await talk(db), await talk(db)
    waker = KeepingWaker()
    waker.refused.add(lost.conversation_id)
    done = await recover(relay_db, waker, lambda n: None)
    assert done.failed == 1
    assert found.conversation_id in {w.conversation_id for w in waker.woken}
