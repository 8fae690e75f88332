"""Laws of a conversation between the two faces: a person takes over at any instant, and each side sees the truth."""

import asyncio
import re

from playwright.async_api import Locator, Page, expect

from tests.browser import cases
from tests.browser.chatting import ChatView
from tests.browser.house import IN_BROWSER, House

pytestmark = IN_BROWSER

ADA, BRUNO = "Ada Lindqvist", "Bruno Okafor"


async def test_a_takeover_during_a_write_ends_the_bot_and_still_tells_the_outcome(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.ask_refund(order.id)
    staff = await house.staff(ADA, f"/console/conversations/{await chat.conversation()}")
    house.product.shop("POST", "/_faults", {"operation": "refund", "mode": "delay_ms:4000", "times": 1})
    await chat.confirm()
    await expect(chat.card).to_contain_text("Being checked")
    await staff.get_by_role("button", name="Take over", exact=False).first.click()
    await expect(owner_of(staff)).to_contain_text("You have this")
    await expect(owner_of(staff)).to_contain_text("it may have reached the shop")
    await expect(chat.page.locator("#who")).to_have_text("A person is here")
    await expect(chat.card).not_to_contain_text("Done.")
    await expect(chat.card).to_contain_text("Done.")
    await expect(owner_of(staff)).not_to_contain_text("it may have reached the shop")
    events = house.events(order.tenant, await chat.conversation())
    taken = next(e["seq"] for e in events if e["kind"] == "owner_changed" and e["owner"] == "human")
    assert [e["kind"] for e in events if e["seq"] > taken and e["kind"] in {"bot_reply", "proposal"}] == []
    (operation_id,) = {e["operation_id"] for e in events if e["kind"] == "proposal"}
    assert len(house.product.effects(operation_id)) == 1


async def test_a_person_answers_notes_and_gives_back(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.page.get_by_role("button", name="Talk to a person").click()
    staff = await house.staff(ADA, f"/console/conversations/{await chat.conversation()}")
    await staff.get_by_role("button", name="Take over", exact=False).first.click()
    await expect(owner_of(staff)).to_contain_text("You have this")
    await write(staff, "Reply", "Hello, this is Ada.", "Send")
    await expect(chat.log.get_by_text("Hello, this is Ada.")).to_be_visible()
    await write(staff, "Note for the staff", "Calls again on Monday.", "Keep the note")
    await expect(staff.locator("#log").get_by_text("Calls again on Monday.")).to_be_visible()
    await chat.say("Thank you, Ada")
    await expect(staff.locator("#log").get_by_text("Thank you, Ada")).to_be_visible()
    await staff.get_by_role("button", name="Give back to the assistant").click()
    await expect(owner_of(staff)).to_contain_text("The assistant has this")
    await expect(chat.page.locator("#who")).to_have_text("Automated assistant")
    await expect(chat.log.get_by_text("Calls again on Monday.")).to_have_count(0)


async def test_who_waits_stands_in_every_open_queue_and_one_person_claims_it(house: House) -> None:
    ada, bruno = await asyncio.gather(house.staff(ADA), house.staff(BRUNO))
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.page.get_by_role("button", name="Talk to a person").click()
    conversation = await chat.conversation()
    row = f"[data-conversation='{conversation}']"
    for queue in (ada, bruno):
        await expect(queue.locator(row)).to_be_visible()
    await ada.locator(row).get_by_role("button", name="Claim").click()
    await expect(ada.locator(row).get_by_role("button", name="Give back")).to_be_visible()
    await expect(bruno.locator(row)).to_contain_text(ADA)
    await expect(bruno.locator(row).get_by_role("button", name="Claim")).to_have_count(0)


async def test_two_people_see_each_other_at_one_conversation(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.say("Hello")
    page = f"/console/conversations/{await chat.conversation()}"
    ada, bruno = await asyncio.gather(house.staff(ADA, page), house.staff(BRUNO, page))
    await expect(ada.get_by_role("status", name="Who is here")).to_contain_text(BRUNO)
    await bruno.get_by_role("button", name="Note for the staff").click()
    await bruno.get_by_role("textbox", name="Note for the staff").press_sequentially("Looks like a known case")
    await expect(ada.get_by_role("status", name="Who is here")).to_contain_text(re.compile(f"{BRUNO} is typing"))


def owner_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Who has this conversation")


async def write(page: Page, mode: str, text: str, button: str) -> None:
    await page.get_by_role("button", name=mode, exact=True).click()
    await page.locator("#text").fill(text)
    await page.get_by_role("button", name=button).click()
    await expect(page.locator("#text")).to_have_value("")
