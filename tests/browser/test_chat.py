"""Laws of the customer's chat: it says what it is, does nothing without consent, and loses and doubles nothing."""

import re
from typing import Any

from playwright.async_api import expect

from tests.browser import cases
from tests.browser.chatting import ChatView
from tests.browser.house import IN_BROWSER, PHONE, House

pytestmark = IN_BROWSER

CUT_OFF = "net::ERR_INTERNET_DISCONNECTED"
ASKED = "How long does a refund take?"
TRUE_WAIT = re.compile("You are number .* (takes about|cannot be said)|Nobody is here at the moment", re.DOTALL)


async def test_it_says_that_it_is_automated_before_anything_is_asked(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await expect(chat.log.get_by_text("automated assistant")).to_be_visible()
    await expect(chat.page.get_by_role("button", name="Talk to a person")).to_be_visible()
    await chat.say(f"Where is my order {order.id}?")
    await expect(chat.replies.filter(has_text=order.id)).to_be_visible()


async def test_consent_is_a_card_and_done_is_said_after_it_is_done(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.ask_refund(order.id)
    for fact in ("Please confirm", "Order", order.id, "Amount", "Nothing happens until you confirm"):
        await expect(chat.card).to_contain_text(fact)
    house.product.shop("POST", "/_faults", {"operation": "refund", "mode": "delay_ms:1500", "times": 1})
    await chat.confirm()
    await expect(chat.card).to_contain_text("Being checked")
    await expect(chat.card).to_contain_text("Done.")
    await expect(chat.card.get_by_role("button")).to_have_count(0)
    assert await effects_of(house, chat) == 1


async def test_two_tabs_are_in_step_and_one_consent_counts_once(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.ask_refund(order.id)
    other = ChatView(await chat.page.context.new_page())
    await other.page.goto(f"/chat/?tenant={order.tenant}")
    await expect(other.card.get_by_role("button", name="Confirm")).to_be_visible()
    await chat.confirm()
    for tab in (chat, other):
        await expect(tab.card).to_contain_text("Done.")
    await other.say("Thank you")
    await expect(chat.log.get_by_text("Thank you", exact=True)).to_have_count(1)
    assert await effects_of(house, chat) == 1


async def test_what_is_written_without_a_connection_is_sent_once_and_in_order(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.say(f"Where is my order {order.id}?")
    await expect(chat.replies).to_have_count(1)
    house.onlooker.expect(CUT_OFF)
    await chat.page.context.set_offline(True)
    texts = ["And the others?", "I am in a train"]
    for text in texts:
        await chat.say(text)
    await expect(chat.page.get_by_text("There is no connection")).to_be_visible()
    await expect(chat.log.get_by_text("Not sent yet")).to_have_count(2)
    await chat.page.context.set_offline(False)
    await expect(chat.log.get_by_text("Not sent yet")).to_have_count(0)
    assert await said_by_customer(house, chat) == [f"Where is my order {order.id}?", *texts]


async def test_a_restart_of_the_api_leaves_everything_in_place_on_both_sides(house: House) -> None:
    (order,) = cases.fresh(house.product)
    queue = await house.staff("Ada Lindqvist")
    chat = ChatView(await house.customer(order))
    await chat.ask_refund(order.id)
    house.onlooker.expect("net::ERR_|Failed to fetch|answered 50[234]|status of 50[234]")
    await house.restart_api()
    await chat.say(ASKED)
    await expect(chat.log.get_by_text("Not sent yet")).to_have_count(0)
    await chat.page.reload()
    await expect(chat.log.get_by_text(ASKED, exact=True)).to_have_count(1)
    await expect(chat.log.locator("section.confirmation")).to_have_count(1)
    await chat.page.get_by_role("button", name="Talk to a person").click()
    await expect(queue.locator(f"[data-conversation='{await chat.conversation()}']")).to_be_visible()
    await expect(queue.get_by_text("The connection is lost")).to_be_hidden()


async def test_a_visitor_gets_public_help_and_nobodys_orders(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.visitor(order.tenant))
    await expect(chat.page.get_by_text("You are not signed in")).to_be_visible()
    await chat.say(f"Please refund my order {order.id}.")
    await expect(chat.replies.or_(chat.log.locator(".notice")).first).to_be_visible()
    await expect(chat.log.locator("section.confirmation")).to_have_count(0)
    kinds = {event["kind"] for event in await events_of(house, chat)}
    assert not kinds & {"evidence", "proposal"}


async def test_whoever_wants_a_person_is_told_truly_how_they_wait(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.page.get_by_role("button", name="Talk to a person").click()
    await expect(chat.page.get_by_role("button", name=re.compile("^A person"))).to_be_visible()
    await expect(chat.page.locator("#who")).to_have_text("Waiting for a person")
    await expect(chat.page.locator("#queue")).to_contain_text(TRUE_WAIT)


async def test_files_are_refused_in_words(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.page.evaluate(
        """() => {
          const carried = new DataTransfer();
          carried.items.add(new File(["x"], "photo.png", { type: "image/png" }));
          document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: carried, cancelable: true }));
        }"""
    )
    await expect(chat.page.get_by_role("alert")).to_contain_text("Files cannot be sent here")


async def test_a_narrow_screen_scrolls_nowhere_sideways(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order, viewport=PHONE))
    await chat.ask_refund(order.id)
    assert await chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def events_of(house: House, chat: ChatView) -> list[dict[str, Any]]:
    """The whole log, as the staff see it."""
    tenant = await chat.page.evaluate("document.body.dataset.tenant")
    return house.events(tenant, await chat.conversation())


async def said_by_customer(house: House, chat: ChatView) -> list[str]:
    return [event["text"] for event in await events_of(house, chat) if event["kind"] == "customer_message"]


async def effects_of(house: House, chat: ChatView) -> int:
    """How often the shop has done what was proposed in this conversation."""
    operations = {event["operation_id"] for event in await events_of(house, chat) if event["kind"] == "proposal"}
    return sum(len(house.product.effects(operation_id)) for operation_id in operations)
