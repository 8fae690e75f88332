"""What a customer sees and does in the chat, by the names that a screen reader would say.

Nothing is looked up here but what stands on the page; the conversation's id is what the page keeps.
"""

import asyncio
import json
from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

PATIENCE_S = 30
KEPT = "Object.entries(localStorage).find(([name]) => name.endsWith('.talk'))?.[1] ?? 'null'"


@dataclass(frozen=True)
class ChatView:
    """One tab with the chat."""

    page: Page

    @property
    def log(self) -> Locator:
        """The log of the conversation."""
        return self.page.get_by_role("log", name="Conversation")

    @property
    def replies(self) -> Locator:
        """What the assistant has said."""
        return self.log.get_by_role("article").filter(has_text="Automated assistant")

    @property
    def card(self) -> Locator:
        """The newest card that asks for consent, or asked for it."""
        return self.log.locator("section.confirmation").last

    async def say(self, text: str) -> None:
        """Write a message and send it by the keyboard."""
        field = self.page.get_by_role("textbox", name="Your message")
        await field.fill(text)
        await field.press("Enter")

    async def ask_refund(self, order: str) -> None:
        """Ask for a refund and wait for the card."""
        await self.say(f"My order {order} arrived broken. Please refund it.")
        await expect(self.card.get_by_role("button", name="Confirm")).to_be_visible()

    async def confirm(self) -> None:
        """Consent to what the card says."""
        await self.card.get_by_role("button", name="Confirm").click()

    async def conversation(self) -> str:
        """Return the id of the conversation in view, once it has one."""
        for _ in range(PATIENCE_S * 10):  # the page's policy lets no condition in that it would have to evaluate
            if (kept := json.loads(await self.page.evaluate(KEPT))) and kept["id"]:
                return str(kept["id"])
            await asyncio.sleep(0.1)
        raise TimeoutError("the conversation did not begin")
