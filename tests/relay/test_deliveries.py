"""Deliveries: what happens is told to whoever asked to be told, signed, in order, until it is taken or dead."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa

from connectors.webhooks import WebhookSender
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.reply import Segment, Source
from domain.webhook import Letter, Tried, networks_of
from domain.webhook_kinds import DeliveryState, WebhookType
from domain.words import Words
from relay.deliveries import AT_ONCE, Deliveries, Pace
from store import tables as t
from store.conversations import open_conversation
from store.database import Database
from store.deliveries import bury_removed, hold_webhooks, take_due
from store.delivery_facts import Delivery, deliveries_of, replay_delivery
from store.secrets import Vault, set_secret, unset_secret
from store.webhooks import NewWebhook, make_webhook, remove_webhook, secret_name
from tests.postgres import Postgres
from tests.relay.receiver import Receiver, answer, receiving
from tests.store.world import Talk
from tests.workflows.shop_world import MARKET, SAAS

VAULT = Vault("a key of the tests' own, long enough")
SECRET = "whsec_" + base64.b64encode(b"a secret that only two know of").decode()
LOOPBACK = networks_of("127.0.0.0/8")
PACE = Pace(interval_s=0.01, attempts_max=3, unseen_after_s=30, lease_s=30)
ANN = VerifiedPrincipal(tenant_id=MARKET, kind=PrincipalKind.STAFF, id="ann", role=StaffRole.AGENT)
EVERYTHING = tuple(WebhookType)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def deliveries(relay_db: Database, db: Database) -> AsyncIterator[Deliveries]:
    sender = WebhookSender(2, LOOPBACK)
    yield Deliveries(relay_db, db, VAULT, sender.send, PACE)
    await sender.close()


@pytest.fixture(autouse=True)
def nobody_is_told(database: Postgres) -> None:
    """What an earlier law has made is told nothing any more."""
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("UPDATE webhooks SET active = false, removed_at = now()")


@pytest.fixture
def now_due(database: Postgres) -> Callable[[], None]:
    """Make everything that waits due at once."""

    def make() -> None:
        with psycopg.connect(database.owner_url) as owner:
            owner.execute("UPDATE webhook_deliveries SET next_attempt_at = now() WHERE state = 'waiting'")
            owner.execute("UPDATE webhooks SET busy_until = now()")

    return make


@pytest.fixture
def read_by_then(database: Postgres) -> Callable[[], None]:
    """Let the time pass in which a reply is read in the chat."""

    def make() -> None:
        with psycopg.connect(database.owner_url) as owner:
            owner.execute("UPDATE webhook_deliveries SET created_at = created_at - interval '31 seconds'")

    return make


async def told_at(db: Database, url: str, *types: WebhookType, tenant: str = MARKET) -> str:
    """Make a webhook; returns its id."""
    ident = f"wh-{uuid4().hex[:12]}"
    new = NewWebhook(id=ident, url=url, types=types or EVERYTHING, active=True, secret=SECRET)
    await make_webhook(db, VAULT, tenant, new, "staff:admin")
    return ident


async def ticket(db: Database, words: Words, tenant: str = MARKET) -> Talk:
    """A conversation of a ticket: nobody reads it here, so that every reply is told."""
    customer = VerifiedPrincipal(tenant_id=tenant, kind=PrincipalKind.CUSTOMER, id=f"c-{uuid4().hex[:8]}")
    talk = Talk(db, words, customer)
    await open_conversation(db, customer, talk.id, "ticket")
    return talk


def words_of(text: str) -> Segment:
    return Segment(text=text, source=Source.TEMPLATE, rests_on="on_its_way")


async def answered(talk: Talk, *texts: str) -> None:
    for text in texts:
        await talk.say()
        await talk.publish(None, words_of(text))


async def put_on_tag(db: Database, talk: Talk, *, fails: bool = False) -> None:
    row = {
        "tenant_id": talk.tenant,
        "conversation_id": talk.id,
        "tag": "vip",
        "source": "staff",
        "added_by": "staff:ann",
    }
    async with db.transaction(talk.tenant) as tx:
        await tx.execute(sa.insert(t.tags).values(**row))
        if fails:
            raise RuntimeError


async def delivered(deliveries: Deliveries) -> None:
    """Deliver until nothing more is due."""
    while await deliveries.begin():
        await deliveries.idle()


async def states(db: Database, talk: Talk) -> list[Delivery]:
    return list(reversed(await deliveries_of(db, talk.tenant, None, talk.id, None, 100)))


async def test_a_reply_is_told_signed_with_the_words_of_the_log(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    talk = await ticket(db, words)
    await answered(talk, "It is on its way.")
    await delivered(deliveries)
    (post,) = receiver.posts
    assert post.signed_by(SECRET)
    assert (post.body["type"], post.body["tenant"]) == ("reply", MARKET)
    data = post.body["data"]
    assert data["text"].endswith("It is on its way.")
    told = (data["conversation_id"], data["channel"], data["seq"], data["kind"], data["automated"])
    assert told == (talk.id, "ticket", 2, "bot_reply", True)
    (kept,) = await states(db, talk)
    assert (kept.state, kept.attempts, kept.last_status, kept.message_id) == ("delivered", 1, 204, post.ident)


async def test_each_type_is_told_to_who_asked_for_it_and_within_its_tenant_alone(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    async with AsyncExitStack() as stack:
        others = {kind: await stack.enter_async_context(receiving()) for kind in WebhookType}
        for kind, one in others.items():
            await told_at(db, one.url, kind)
        await told_at(db, receiver.url, tenant=SAAS)
        talk = await ticket(db, words)
        await talk.proposed()
        await talk.take_over(ANN)
        await put_on_tag(db, talk)
        await delivered(deliveries)
        assert receiver.posts == []
        kinds = {kind: [post.body["data"]["kind"] for post in one.posts] for kind, one in others.items()}
        assert kinds[WebhookType.HANDOFF] == ["handoff"]
        assert kinds[WebhookType.ACTION] == ["proposal", "action_state"]
        assert kinds[WebhookType.REPLY] == ["proposal", "action_state", "notice"]
        assert kinds[WebhookType.TAG] == ["tag_added"]
        proposed, rejected = (post.body["data"] for post in others[WebhookType.ACTION].posts)
        assert (proposed["state"], rejected["state"]) == ("awaiting_approval", "rejected")
        assert proposed["operation_id"] == rejected["operation_id"]
        assert "text" not in rejected
        assert others[WebhookType.TAG].posts[0].body["data"]["tag"] == "vip"


async def test_what_is_rolled_back_is_told_to_nobody(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    await told_at(db, receiver.url)
    talk = await ticket(db, words)
    with pytest.raises(RuntimeError):
        await put_on_tag(db, talk, fails=True)
    await delivered(deliveries)
    assert (receiver.posts, await states(db, talk)) == ([], [])


async def test_a_try_that_fails_is_made_again_later_under_the_same_id(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries, now_due: Callable[[], None]
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    talk = await ticket(db, words)
    receiver.answers = [answer(500)]
    await answered(talk, "It is on its way.")
    await delivered(deliveries)
    (waiting,) = await states(db, talk)
    assert (waiting.state, waiting.last_fault, waiting.last_status) == ("waiting", "answered", 500)
    assert len(receiver.posts) == 1
    now_due()
    await delivered(deliveries)
    first, second = receiver.posts
    assert (first.ident, first.raw) == (second.ident, second.raw)
    assert second.signed_by(SECRET)
    assert [d.state for d in await states(db, talk)] == ["delivered"]


async def test_a_conversation_is_told_in_order_and_another_does_not_wait_for_it(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries, now_due: Callable[[], None]
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    talk, other = await ticket(db, words), await ticket(db, words)
    receiver.answers = [answer(503)]
    await answered(talk, "One.", "Two.")
    await answered(other, "Three.")
    await delivered(deliveries)
    assert [post.body["data"]["text"][-6:] for post in receiver.posts] == ["] One.", "Three."]
    now_due()
    await delivered(deliveries)
    assert [post.body["data"]["text"][-4:] for post in receiver.posts[2:]] == ["One.", "Two."]


async def test_after_its_last_try_it_is_dead_and_what_waited_for_it_goes_on(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries, now_due: Callable[[], None]
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    talk = await ticket(db, words)
    receiver.answers = [answer(500)] * PACE.attempts_max
    await answered(talk, "One.", "Two.")
    for _ in range(PACE.attempts_max):
        await delivered(deliveries)
        now_due()
    await delivered(deliveries)
    assert [(d.state, d.attempts) for d in await states(db, talk)] == [("dead", 3), ("delivered", 1)]


async def test_gone_is_dead_at_once_and_a_replay_is_told_under_the_first_id(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    talk = await ticket(db, words)
    receiver.answers = [answer(410)]
    await answered(talk, "One.")
    await delivered(deliveries)
    (dead,) = await states(db, talk)
    assert (dead.state, dead.last_fault) == ("dead", "gone")
    again = await replay_delivery(db, MARKET, dead.id)
    assert (again.state, again.attempts) == (DeliveryState.WAITING, 0)
    await delivered(deliveries)
    assert len({post.ident for post in receiver.posts}) == 1
    assert [d.state for d in await states(db, talk)] == ["delivered"]


async def test_a_receiver_that_asks_for_time_is_left_alone_for_so_long(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    receiver.answers = [answer(429, "retry-after: 60")]
    for _ in range(3):
        await answered(await ticket(db, words), "One.")
    await delivered(deliveries)
    assert len(receiver.posts) == 1


async def test_a_slow_receiver_gets_one_at_a_time_and_no_other_waits_for_it(
    db: Database, relay_db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    receiver.slow = asyncio.Event()
    await told_at(db, receiver.url, WebhookType.REPLY)
    async with receiving() as quick:
        await told_at(db, quick.url, WebhookType.REPLY)
        for _ in range(3):
            await answered(await ticket(db, words), "One.")
        assert await deliveries.begin() == 2
        beside = Deliveries(relay_db, db, VAULT, WebhookSender(2, LOOPBACK).send, PACE)  # another worker
        while len(quick.posts) < 3:
            await beside.begin()
            await asyncio.sleep(0.01)
        assert len(receiver.posts) == 1
        receiver.slow.set()
        await deliveries.idle()
        await beside.idle()
        await delivered(deliveries)
        assert (len(receiver.posts), receiver.at_once_max) == (3, 1)


async def test_receivers_that_are_slow_to_say_yes_keep_no_place_from_others(
    db: Database, relay_db: Database, words: Words, receiver: Receiver
) -> None:
    sent: list[str] = []

    async def slowly(letter: Letter) -> Tried:
        sent.append(letter.url)
        await asyncio.sleep(0.05)
        return Tried(status=200)

    for n in range(AT_ONCE):
        await told_at(db, f"https://slow.example/{n}", WebhookType.REPLY)
    for _ in range(3):
        await answered(await ticket(db, words), "One.")
    deliveries = Deliveries(relay_db, db, VAULT, slowly, replace(PACE, burst_s=0))
    assert await deliveries.begin() == AT_ONCE
    await told_at(db, "https://quick.example/", WebhookType.REPLY, tenant=SAAS)
    await answered(await ticket(db, words, SAAS), "One.")
    await deliveries.idle()
    assert len(sent) == AT_ONCE
    await deliveries.begin()
    await deliveries.idle()
    assert "https://quick.example/" in sent


async def test_a_try_that_dies_on_the_way_is_made_again_once_its_lease_is_over(
    db: Database,
    relay_db: Database,
    words: Words,
    receiver: Receiver,
    deliveries: Deliveries,
    now_due: Callable[[], None],
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    await answered(await ticket(db, words), "One.")
    (held,) = await hold_webhooks(relay_db, 10, 30, 30)
    assert await take_due(relay_db, held, 30, 30) is not None
    await delivered(deliveries)
    assert receiver.posts == []
    now_due()
    await delivered(deliveries)
    assert len(receiver.posts) == 1


async def test_a_reply_in_the_chat_is_told_only_to_who_has_not_read_it_there(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries, read_by_then: Callable[[], None]
) -> None:
    await told_at(db, receiver.url, WebhookType.REPLY)
    customer = VerifiedPrincipal(tenant_id=MARKET, kind=PrincipalKind.CUSTOMER, id="c-chat")
    here, gone = [await Talk(db, words, customer).begin() for _ in range(2)]
    for talk in (here, gone):
        await answered(talk, "One.")
    await delivered(deliveries)
    assert receiver.posts == []
    async with db.transaction(MARKET) as tx:
        await tx.execute(sa.insert(t.seen).values(conversation_id=here.id, tenant_id=MARKET, seq=2))
    read_by_then()
    await delivered(deliveries)
    assert [post.body["data"]["conversation_id"] for post in receiver.posts] == [gone.id]
    assert [d.state for d in await states(db, here)] == ["seen"]
    (told,) = await states(db, here)
    await replay_delivery(db, MARKET, told.id)
    await delivered(deliveries)
    assert receiver.posts[-1].body["data"]["conversation_id"] == here.id


async def test_without_its_secret_nothing_is_sent(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    ident = await told_at(db, receiver.url, WebhookType.REPLY)
    await unset_secret(db, MARKET, secret_name(ident))
    talk = await ticket(db, words)
    await answered(talk, "One.")
    await delivered(deliveries)
    assert receiver.posts == []
    assert [(d.state, d.last_fault) for d in await states(db, talk)] == [("waiting", "no_secret")]


async def test_what_waits_for_a_webhook_that_is_removed_is_dead(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries
) -> None:
    ident = await told_at(db, receiver.url, WebhookType.REPLY)
    talk = await ticket(db, words)
    await answered(talk, "One.")
    await remove_webhook(db, MARKET, ident)
    await answered(talk, "Two.")
    await delivered(deliveries)
    assert receiver.posts == []
    assert [(d.state, d.last_fault) for d in await states(db, talk)] == [("dead", "removed")]


async def test_what_came_to_wait_while_its_webhook_was_removed_is_given_up(
    db: Database, relay_db: Database, words: Words, receiver: Receiver, database: Postgres
) -> None:
    await bury_removed(relay_db)  # what earlier laws have left
    ident = await told_at(db, receiver.url, WebhookType.REPLY)
    talk = await ticket(db, words)
    await answered(talk, "One.")
    with psycopg.connect(database.owner_url) as owner:
        owner.execute("UPDATE webhooks SET active = false, removed_at = now() WHERE id = %s", (ident,))
    assert await bury_removed(relay_db) == 1
    assert [(d.state, d.last_fault) for d in await states(db, talk)] == [("dead", "removed")]
    assert await bury_removed(relay_db) == 0


async def test_what_cannot_be_read_or_signed_keeps_nothing_else_from_being_told(
    db: Database, words: Words, receiver: Receiver, deliveries: Deliveries, database: Postgres
) -> None:
    await set_secret(db, VAULT, MARKET, secret_name(await told_at(db, receiver.url, WebhookType.REPLY)), "whsec_!")
    other = await told_at(db, receiver.url, WebhookType.REPLY)
    talk = await ticket(db, words)
    await answered(talk, "One.")
    with psycopg.connect(database.owner_url) as owner:  # a body that no code of ours writes
        owner.execute("UPDATE events SET body = '[]' WHERE conversation_id = %s AND kind = 'bot_reply'", (talk.id,))
    await answered(await ticket(db, words), "Two.")
    await delivered(deliveries)
    assert [post.body["data"]["text"][-4:] for post in receiver.posts] == ["Two."]
    faults = {(d.webhook_id == other, d.last_fault) for d in await states(db, talk)}
    assert faults == {(True, "defect"), (False, "defect")}
