"""Laws of the policy book: a bundle is opened by its digest, and what is not there judges nothing."""

import pytest

from activities.policybook import PolicyBook
from domain.fault import OperationalFault
from domain.verdict import VerdictKind
from policy.bundle import Bundle
from store.database import Database
from tests.policy.worlds import question


async def test_a_published_bundle_opens_once_and_judges(db: Database) -> None:
    book, digest = PolicyBook(db), Bundle.load().digest
    await book.open(digest)
    await db.close()
    await book.open(digest)  # it is not read again, or this would leave a connection open
    assert book.judge(digest, question()).kind is VerdictKind.ASK


async def test_an_unknown_bundle_is_a_fault_and_never_a_permission(db: Database) -> None:
    book = PolicyBook(db)
    with pytest.raises(OperationalFault, match="policy_bundle_missing"):
        await book.open("no-such-digest")
    with pytest.raises(OperationalFault, match="policy_bundle_not_open"):
        book.judge("no-such-digest", question())
