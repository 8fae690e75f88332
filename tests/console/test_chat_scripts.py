"""Laws of the chat's scripts, tried in the browser that they are for: what counts as done, what becomes a link."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, async_playwright

from console.rendering import STATIC
from tests.browser.chromium import ADVICE, chromium, in_ci

FAR, PAST = "2999-01-01T00:00:00Z", "2000-01-01T00:00:00Z"
ORIGIN = "http://chat.example"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page() -> AsyncIterator[Page]:
    """A page that can import the chat's modules, and reaches nothing else."""
    program = chromium()
    if program is None and not in_ci():
        pytest.skip(ADVICE)

    async def serve(route: Route) -> None:
        file = STATIC / "chat" / route.request.url.rpartition("/")[2]
        if file.is_file():
            await route.fulfill(path=file)
        else:
            await route.fulfill(body="<!doctype html><title>chat</title>", content_type="text/html")

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opened = await browser.new_page(locale="de-AT")
        await opened.route("**/*", serve)
        await opened.goto(ORIGIN)
        yield opened
        await browser.close()


CARD = """async ({ events, at }) => {
  const { Thread, cardState } = await import("/thread.js");
  const thread = new Thread();
  events.forEach((event, n) => thread.take({ seq: n + 1, operation_id: "op", ...event }));
  const action = thread.actions.get("op");
  return [cardState(action, action.proposals[at ?? 0], Date.now()), thread.inFlight];
}"""


def proposal(expires_at: str = FAR, roles: tuple[str, ...] = ("customer",)) -> dict[str, Any]:
    return {"kind": "proposal", "expires_at": expires_at, "required_approvals": list(roles), "payload_digest": "d"}


def consent(decision: str = "approve", role: str = "customer") -> dict[str, Any]:
    return {"kind": "approval", "role": role, "decision": decision}


def state(to: str, cause: str = "sent") -> dict[str, Any]:
    return {"kind": "action_state", "state": to, "cause": cause}


BOTH = ("customer", "manager")


@pytest.mark.parametrize(
    ("events", "stands"),
    [
        ([proposal()], "asks"),
        ([proposal(PAST)], "expired"),
        ([proposal(), consent()], "agreed"),
        ([proposal(), consent("reject")], "declined"),
        ([proposal(roles=BOTH)], "asks"),
        ([proposal(roles=BOTH), consent()], "staff"),
        ([proposal(roles=BOTH), consent("approve", "manager")], "asks"),
        ([proposal(), consent(), state("submitted")], "checking"),
        ([proposal(), consent(), state("submitted"), state("unknown", "lost")], "checking"),
        ([proposal(PAST), consent(), state("submitted"), state("unknown", "lost")], "checking"),
        ([proposal(), consent(), state("submitted"), state("confirmed", "succeeded")], "done"),
        ([proposal(), consent(), state("submitted"), state("rejected", "refused")], "rejected"),
        ([proposal(), state("rejected", "superseded")], "superseded"),
        ([proposal(), state("rejected", "withdrawn")], "withdrawn"),
        ([proposal(), proposal()], "replaced"),
    ],
)
async def test_a_card_asks_while_it_can_be_used_and_says_done_only_when_it_is(
    events: list[dict[str, Any]], stands: str, page: Page
) -> None:
    assert await page.evaluate(CARD, {"events": events}) == [stands, stands == "checking"]


async def test_a_proposal_made_anew_asks_again(page: Page) -> None:
    events = [proposal(), consent(), proposal()]
    assert (await page.evaluate(CARD, {"events": events, "at": 1}))[0] == "asks"


LINKS = """async (text) => {
  const { linked } = await import("/dom.js");
  const shown = document.createElement("p");
  shown.append(...linked(text));
  const made = [...shown.querySelectorAll("*")].map((one) => [one.tagName, one.getAttribute("href"), one.rel]);
  return [shown.textContent, made];
}"""
REL = "noopener noreferrer"


@pytest.mark.parametrize(
    ("text", "hrefs"),
    [
        ("See https://shop.example/a?b=1&c=2).", ["https://shop.example/a?b=1&c=2"]),
        ("http://one.example, https://two.example!", ["http://one.example/", "https://two.example/"]),
        ("<a href='javascript:alert(1)'>x</a> <img src=x onerror=alert(1)>", []),
        ("javascript:alert(1) data:text/html,x ftp://shop.example //shop.example", []),
        ("https://bank.example@evil.example/ https://", []),
    ],
)
async def test_a_text_stays_a_text_and_only_web_addresses_become_links(text: str, hrefs: list[str], page: Page) -> None:
    assert await page.evaluate(LINKS, text) == [text, [["A", href, REL] for href in hrefs]]


ROWS = """async (payload) => {
  const [{ rows }, { loadWords }] = await Promise.all([import("/card.js"), import("/words.js")]);
  return rows(payload, await loadWords(["de-AT"]));
}"""


async def test_a_card_says_what_how_much_and_to_where_in_the_readers_own_way(page: Page) -> None:
    refund = {"kind": "refund", "order_id": "A-1", "amount_minor": 129_900, "currency": "EUR", "customer_id": "c"}
    told = dict(await page.evaluate(ROWS, refund))
    assert told["Bestellung"] == "A-1"
    assert told["Geht an"] == "Auf dem Weg, auf dem bezahlt wurde"
    assert [ch for ch in told["Betrag"] if ch.isdigit()] == list("129900")
    moved = {"kind": "change_delivery_address", "order_id": "A-1", "address": ["Weg 1", "1010 Wien"], "address_id": "x"}
    assert dict(await page.evaluate(ROWS, moved))["Lieferung an"] == "Weg 1\n1010 Wien"
    yen = {"kind": "refund", "order_id": "A-1", "amount_minor": 1_200, "currency": "JPY"}
    assert [ch for ch in dict(await page.evaluate(ROWS, yen))["Betrag"] if ch.isdigit()] == list("1200")


async def test_what_a_future_kind_would_change_is_shown_even_without_words_for_it(page: Page) -> None:
    told = dict(
        await page.evaluate(ROWS, {"kind": "new_kind", "customer_id": "c", "resource_version": 3, "seat": "12A"})
    )
    assert told == {"seat": "12A"}


WAITING = """async (waiting) => {
  const [{ queueTexts }, { loadWords }] = await Promise.all([import("/standing.js"), import("/words.js")]);
  return queueTexts({ queue_status: "waiting", ...waiting }, await loadWords(["en"]));
}"""


async def test_an_estimate_is_told_only_where_there_is_one_and_out_of_hours_the_opening(page: Page) -> None:
    (first, then) = await page.evaluate(WAITING, {"position": 3, "estimate_s": 360, "open": True})
    assert ("3" in first, "6 minutes" in then) == (True, True)
    (_, unknown) = await page.evaluate(WAITING, {"position": 3, "estimate_s": None, "open": True})
    assert "cannot be said" in unknown
    opens = {"open": False, "opens_at": "2026-12-01T08:00:00Z", "timezone": "Europe/Berlin", "position": 3}
    (closed, kept) = await page.evaluate(WAITING, opens)
    assert ("Tuesday" in closed, "09:00" in closed, "Europe/Berlin" in closed) == (True, True, True)
    assert "3" not in kept
    assert len(await page.evaluate(WAITING, {"open": False, "opens_at": None})) == 2


OUTBOX = """async ({ answers, texts }) => {
  const [{ Outbox }, { Shelf }, { Refused, NoAnswer }, { freshId }] = await Promise.all(
    ["/outbox.js", "/shelf.js", "/contract.js", "/dom.js"].map((name) => import(name)));
  const shelf = new Shelf({ tenant: "t", kind: "customer", id: freshId() });
  const posted = [];
  const contract = {
    token: "t",
    async post(path, body, key) {
      if (path === "/conversations") return { id: `c-${key}` };
      posted.push([body.client_message_id, body.text]);
      const answer = answers.shift() ?? 202;
      if (answer === 0) throw new NoAnswer();
      if (answer >= 400) throw new Refused(answer, { type: "x/slug" }, 0.01);
      return { seq: posted.length };
    },
  };
  const quiet = { changed() {}, shown() {}, sent() {}, lost() {} };
  const outbox = new Outbox(contract, shelf, quiet);
  for (const text of texts) outbox.add(text, 0);
  for (let n = 0; n < 200 && (outbox.busy || shelf.unsent().some((one) => !one.refused)); n += 1) {
    await new Promise((go) => setTimeout(go, 50));
  }
  return [posted, shelf.unsent().map((one) => one.text)];
}"""


async def test_messages_go_out_in_order_and_a_lost_answer_is_asked_for_under_the_same_id(page: Page) -> None:
    posted, left = await page.evaluate(OUTBOX, {"answers": [0, 202, 202], "texts": ["one", "two"]})
    assert [text for _, text in posted] == ["one", "one", "two"]
    assert posted[0] == posted[1]
    assert left == []


async def test_a_refused_message_stays_and_holds_up_nobody(page: Page) -> None:
    posted, left = await page.evaluate(OUTBOX, {"answers": [422, 202], "texts": ["one", "two"]})
    assert ([text for _, text in posted], left) == (["one", "two"], ["one"])
