"""Laws of drafts: what a person lets out goes out once, in the words that stood there, and what is kept in never."""

import asyncio

from playwright.async_api import expect

from tests.browser.house import IN_BROWSER, House
from tests.browser.world import MARKET

pytestmark = IN_BROWSER

WORDS = "You have 30 days, counted from the day of delivery."


async def test_an_edited_draft_goes_out_once_in_the_words_of_the_person(house: House) -> None:
    draft = next(d for d in house.waiting("drafts") if not d["stale"] and "30 days" in d["text"])
    where = f"/console/drafts/{draft['draft_id']}"
    ada, bruno = await asyncio.gather(house.staff("Ada Lindqvist", where), house.staff("Bruno Okafor", where))
    await ada.get_by_label("Text").fill(WORDS)
    await expect(ada.locator("#changes ins").first).to_be_visible()
    await ada.get_by_role("button", name="Send").click()
    await expect(ada.get_by_role("heading", name="Sent in other words")).to_be_visible()
    await expect(bruno.get_by_role("heading", name="Sent in other words")).to_be_visible()
    said = [e for e in house.events(MARKET, draft["conversation_id"]) if e["kind"] == "bot_reply"]
    assert len([e for e in said if WORDS in e["text"]]) == 1
    assert draft["draft_id"] not in {d["draft_id"] for d in house.waiting("drafts")}


async def test_who_keeps_a_draft_in_has_the_conversation(house: House) -> None:
    draft = next(d for d in house.waiting("drafts") if not d["stale"] and "30 days" not in d["text"])
    page = await house.staff("Bruno Okafor", f"/console/drafts/{draft['draft_id']}")
    await page.get_by_label("Why").fill("It should say which carrier.")
    await page.get_by_role("button", name="Reject and take the conversation").click()
    await expect(page.get_by_role("region", name="Who has this conversation")).to_contain_text("You have this")
    assert [
        e for e in house.events(MARKET, draft["conversation_id"]) if e["kind"] in {"bot_reply", "staff_reply"}
    ] == []
