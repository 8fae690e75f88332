"""Laws of the keyboard: whoever touches no mouse can do what the day asks for, in the console and in the chat."""

from playwright.async_api import Page, expect

from tests.browser import cases
from tests.browser.chatting import ChatView
from tests.browser.house import IN_BROWSER, House

pytestmark = IN_BROWSER


async def test_a_day_at_the_desk_needs_no_mouse(house: House) -> None:
    page = await house.staff("Ada Lindqvist")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("approvals")
    await expect(page.get_by_role("option", name="Approvals").first).to_be_visible()
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{house.url}/console/approvals")  # and its keys are there
    await page.keyboard.press("g")
    await page.keyboard.press("q")
    await page.wait_for_url(f"{house.url}/console/")  # and its keys are there
    await page.keyboard.press("j")
    assert await focused(page) == "A"
    await page.keyboard.press("Enter")
    await expect(page).not_to_have_url(f"{house.url}/console/")


async def test_a_person_takes_over_and_answers_by_keys_alone(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.page.get_by_role("button", name="Talk to a person").focus()
    await chat.page.keyboard.press("Enter")
    page = await house.staff("Ada Lindqvist", f"/console/conversations/{await chat.conversation()}")
    await page.keyboard.press("t")
    await expect(page.get_by_role("region", name="Who has this conversation")).to_contain_text("You have this")
    await page.keyboard.press("r")
    await page.keyboard.type("Good day.")
    await page.keyboard.press("Control+Enter")
    await expect(chat.log.get_by_text("Good day.")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("x")
    await expect(page.get_by_role("region", name="Who has this conversation")).to_contain_text("The assistant has this")


async def test_a_customer_consents_by_keys_alone(house: House) -> None:
    (order,) = cases.fresh(house.product)
    chat = ChatView(await house.customer(order))
    await chat.ask_refund(order.id)
    for _ in range(20):
        await chat.page.keyboard.press("Shift+Tab")
        if await chat.page.evaluate("document.activeElement.textContent") == "Confirm":
            break
    await chat.page.keyboard.press("Enter")
    await expect(chat.card).to_contain_text("Done.")


async def focused(page: Page) -> str:
    return str(await page.evaluate("document.activeElement.tagName"))
