"""The client of webhooks: where it goes, what it makes of an answer, and that it never takes longer than it may."""

import asyncio
import base64
from collections.abc import AsyncIterator

import pytest

from connectors.webhooks import WebhookSender
from domain.webhook import Letter, Tried, networks_of
from domain.webhook_kinds import DeliveryFault
from tests.relay.receiver import Receiver, answer, receiving

SECRET = "whsec_" + base64.b64encode(b"a secret that only two know of").decode()
LOOPBACK = networks_of("127.0.0.0/8, ::1/128")


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def sender() -> AsyncIterator[WebhookSender]:
    made = WebhookSender(0.5, LOOPBACK)
    yield made
    await made.close()


def letter(url: str) -> Letter:
    return Letter(url=url, secret=SECRET, message_id="msg_1", body='{"é":1}')


async def test_a_letter_arrives_signed_over_exactly_its_bytes(receiver: Receiver, sender: WebhookSender) -> None:
    assert await sender.send(letter(receiver.url)) == Tried(status=204)
    (post,) = receiver.posts
    assert (post.raw.decode(), post.ident) == ('{"é":1}', "msg_1")
    assert post.signed_by(SECRET)
    assert post.headers["host"] == receiver.url.split("/")[2]


async def test_a_name_is_connected_to_by_the_address_that_was_judged(receiver: Receiver, sender: WebhookSender) -> None:
    url = receiver.url.replace("127.0.0.1", "localhost")
    assert await sender.send(letter(url)) == Tried(status=204)
    assert receiver.posts[0].headers["host"] == url.split("/")[2]


@pytest.mark.parametrize(
    ("said", "came_to"),
    [
        (answer(200), Tried(status=200)),
        (answer(302, "location: http://127.0.0.1:1/"), Tried(fault=DeliveryFault.REDIRECTED, status=302)),
        (answer(400), Tried(fault=DeliveryFault.ANSWERED, status=400)),
        (answer(410), Tried(fault=DeliveryFault.GONE, status=410)),
        (answer(429, "retry-after: 7"), Tried(fault=DeliveryFault.ANSWERED, status=429, retry_after_s=7)),
        (answer(503, "retry-after: Fri, 31 Dec 1999 23:59:59 GMT"), Tried(fault=DeliveryFault.ANSWERED, status=503)),
        (answer(503, "retry-after: -1"), Tried(fault=DeliveryFault.ANSWERED, status=503)),
        (b"nonsense\r\n\r\n", Tried(fault=DeliveryFault.UNREACHABLE)),
        (b"", Tried(fault=DeliveryFault.UNREACHABLE)),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n" + b"x" * 100_000, Tried(status=200)),
    ],
)
async def test_an_answer_is_what_its_status_says(
    receiver: Receiver, sender: WebhookSender, said: bytes, came_to: Tried
) -> None:
    receiver.answers = [said]
    assert await sender.send(letter(receiver.url)) == came_to


async def test_a_receiver_that_does_not_answer_takes_no_longer_than_it_may(
    receiver: Receiver, sender: WebhookSender
) -> None:
    receiver.slow = asyncio.Event()
    async with asyncio.timeout(2):
        assert await sender.send(letter(receiver.url)) == Tried(fault=DeliveryFault.TIMEOUT)


async def test_where_nobody_listens_is_unreachable(sender: WebhookSender) -> None:
    for url in ("http://127.0.0.1:1/", "http://[::1]:1/"):
        assert await sender.send(letter(url)) == Tried(fault=DeliveryFault.UNREACHABLE)
    nowhere = await sender.send(letter("https://nowhere.invalid/"))
    assert nowhere.fault in {DeliveryFault.UNREACHABLE, DeliveryFault.TIMEOUT}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_what_is_not_public_is_not_connected_to_however_it_is_written(
    receiver: Receiver, scheme: str, host: str
) -> None:
    sender = WebhookSender(0.5, ())
    url = receiver.url.replace("http:", f"{scheme}:").replace("127.0.0.1", host)
    came_to = await sender.send(letter(url))
    await sender.close()
    assert came_to.fault in {DeliveryFault.FORBIDDEN_ADDRESS, DeliveryFault.UNREACHABLE}
    assert receiver.posts == []
    assert receiver.at_once_max == 0
