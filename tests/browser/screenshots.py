"""`make screenshots`: the pictures of the pages for README and docs, taken of a stack of their own that is in use.

Everything in them was done by the product; only the size of the window and the moment are chosen.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Page, ViewportSize, expect

from tests.browser import cases
from tests.browser.chatting import ChatView
from tests.browser.house import PHONE, House, browsing
from tests.browser.pictures import packed
from tests.whole.running import ROOT, running

IMAGES = ROOT / "docs" / "images"
BYTES_MAX = 150_000
WINDOW: ViewportSize = {"width": 1280, "height": 800}
CHAT: ViewportSize = {"width": 720, "height": 800}
ADA, CHIARA = "Ada Lindqvist", "Chiara Rossi"
PAGES = {"drafts": "/console/drafts", "knowledge": "/console/knowledge", "policy": "/console/policy"}


async def take(page: Page, name: str) -> None:
    """Write one picture. Raises ValueError where it would be too large for a repository."""
    await page.wait_for_load_state("load")
    blank = await page.context.new_page()
    picture = await packed(blank, await page.screenshot(animations="disabled", caret="initial"))
    await blank.close()
    if len(picture) > BYTES_MAX:
        raise ValueError(f"{name}.png has {len(picture)} bytes; at most {BYTES_MAX} belong into a repository")
    (IMAGES / f"{name}.png").write_bytes(picture)
    print(f"screenshots: {name}.png, {len(picture) // 1024} KB")


async def both_schemes(page: Page, name: str) -> None:
    """Write one picture in light and one in dark."""
    await take(page, name)
    await page.emulate_media(color_scheme="dark")
    await take(page, f"{name}-dark")
    await page.emulate_media(color_scheme="light")


async def chat(house: House) -> str:
    """Show a customer before the card and a small screen after it; return the conversation, which then waits."""
    (order,) = cases.fresh(house.product)
    view = ChatView(await house.customer(order, viewport=CHAT))
    await view.say(f"Where is my order {order.id}?")
    await expect(view.replies).to_have_count(1)
    await view.ask_refund(order.id)
    await take(view.page, "chat")
    await view.confirm()
    await expect(view.card).to_contain_text("Done.")
    await view.say("Thanks. I would like to talk to a person about the delivery.")
    await expect(view.page.locator("#who")).to_have_text("Waiting for a person")
    await view.page.set_viewport_size(PHONE)
    await take(view.page, "chat-phone")
    return await view.conversation()


async def conversation(house: House, ident: str) -> None:
    """Show what a person sees who has just taken over."""
    page = await house.staff(ADA, f"/console/conversations/{ident}", viewport=WINDOW)
    await page.keyboard.press("t")
    await expect(page.get_by_role("region", name="Who has this conversation")).to_contain_text("You have this")
    await expect(page.locator("[data-toast]")).to_have_count(0)
    await both_schemes(page, "conversation")


async def queue(house: House) -> None:
    """Show what waits."""
    page = await house.staff(ADA, viewport=WINDOW)
    await both_schemes(page, "queue")
    await page.set_viewport_size(PHONE)
    await take(page, "queue-phone")


async def consent(house: House) -> None:
    """Show what a manager decides."""
    page = await house.staff(CHIARA, "/console/approvals", viewport=WINDOW)
    await page.locator("#waiting").get_by_role("link").first.click()
    await expect(page.get_by_role("heading", name="What exactly would happen")).to_be_visible()
    await take(page, "approvals")


async def others(house: House) -> None:
    """Show the pages that are read."""
    page = await house.staff(CHIARA, viewport=WINDOW)
    for name, path in PAGES.items():
        await page.goto(path)
        rows = page.locator(".row-open")
        if await rows.count():
            await rows.first.click()
            await expect(page.locator("#detail [data-row]")).to_be_visible()
        await take(page, name)
    await page.goto("/console/numbers")
    await expect(page.get_by_role("figure").first).to_be_visible()
    await take(page, "numbers")


async def widget(house: House) -> None:
    """Show the chat on a page of somebody else."""
    page = await (await house.window("guest", viewport=WINDOW)).new_page()
    await page.goto("/chat/example")
    await page.get_by_role("button", name="Open the chat").click()
    await expect(page.frame_locator("iframe").get_by_role("log")).to_be_visible()
    await take(page, "widget")


async def _all(house: House) -> None:
    ident = await chat(house)
    steps: list[Callable[[House], Awaitable[None]]] = [queue, consent, others, widget]
    for step in steps:
        await step(house)
    await conversation(house, ident)
    await house.close(None)
    if house.onlooker.complaints:
        raise ValueError("\n".join(house.onlooker.complaints))


async def _main(home: Path) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with running(home / "data") as product:
        async with browsing() as browser:
            await _all(House(product, browser))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="interlock-pictures-") as folder:
        asyncio.run(_main(Path(folder)))
    sys.exit(0)
