"""Laws of every page: axe-core finds nothing grave, and nothing stands beside a narrow screen or one at 200 %."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser import cases
from tests.browser.axe import grave_findings
from tests.browser.chatting import ChatView
from tests.browser.house import DESK, DESK_AT_200, IN_BROWSER, PHONE, House

pytestmark = IN_BROWSER

CONSOLE = {
    "queue": "/console/",
    "queue of nobody": "/console/?tag=nobody-has-this",
    "approvals": "/console/approvals",
    "drafts": "/console/drafts",
    "knowledge": "/console/knowledge",
    "policy": "/console/policy",
    "numbers": "/console/numbers",
    "desk": "/console/desk",
}
NARROW = "document.documentElement.scrollWidth <= innerWidth"


@pytest.mark.parametrize("path", CONSOLE.values(), ids=CONSOLE)
async def test_a_page_of_the_console_is_for_everybody(house: House, path: str) -> None:
    page = await house.staff("Chiara Rossi", path)
    await expect(page.locator("main [hx-trigger=load] > .empty:only-child")).to_have_count(0)  # what is still counted
    await fits_everywhere(page)


async def test_an_approval_is_for_everybody(house: House) -> None:
    page = await house.staff("Chiara Rossi", "/console/approvals")
    await page.locator("#waiting").get_by_role("link").first.click()
    await expect(page.get_by_role("heading", name="What exactly would happen")).to_be_visible()
    await fits_everywhere(page)


async def test_a_conversation_is_for_everybody(house: House) -> None:
    page = await house.staff("Chiara Rossi")
    await page.locator("#queue a[href^='/console/conversations/']").first.click()
    await expect(page.get_by_role("region", name="Who has this conversation")).to_be_visible()
    await fits_everywhere(page)


async def test_the_way_in_is_for_everybody(house: House) -> None:
    page = await (await house.window("stranger")).new_page()
    await page.goto("/console/sign-in")
    await fits_everywhere(page)


async def test_the_chat_is_for_everybody(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.ask_refund(order.id)
    await fits_everywhere(chat.page)
    await chat.confirm()
    await expect(chat.card).to_contain_text("Done.")
    await chat.say("How long does a refund take?")
    await chat.page.get_by_text("Rate this answer").last.click()
    await expect(chat.page.get_by_role("group", name="How helpful was this answer?")).to_be_visible()
    await fits_everywhere(chat.page)


async def test_the_chat_on_a_page_of_somebody_else_is_for_everybody(house: House) -> None:
    page = await (await house.window("guest of a shop")).new_page()
    await page.goto("/chat/example")
    await page.get_by_role("button", name=re.compile("chat", re.IGNORECASE)).last.click()
    frame = page.frame_locator("iframe").get_by_role("log")
    await expect(frame).to_be_visible()
    await fits_everywhere(page)


async def fits_everywhere(page: Page) -> None:
    """In both colours nothing grave; at 360 px, and at twice the size, nothing beside the screen."""
    assert await grave_findings(page) == []
    for viewport in (PHONE, DESK_AT_200):
        await page.set_viewport_size(viewport)
        assert await page.evaluate(NARROW), f"{page.url} scrolls sideways at {viewport['width']} px"
    await page.set_viewport_size(DESK)
