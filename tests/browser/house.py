"""The house that the browser's tests visit: a whole product, a browser, and people with windows of their own.

A window is a browser context: cookies and storage are nobody else's. What is done here, a person could do.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, async_playwright, expect

from tests.browser.cases import Order
from tests.browser.chromium import chromium
from tests.browser.onlooker import Onlooker
from tests.browser.world import MARKET
from tests.whole.running import Product

IN_BROWSER = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(240)]
PATIENCE_MS = 30_000
RESTART_S = 40
DESK: ViewportSize = {"width": 1440, "height": 900}
DESK_AT_200: ViewportSize = {"width": 720, "height": 450}
PHONE: ViewportSize = {"width": 360, "height": 740}
PACE = {"reduced_motion": "reduce", "locale": "en-GB", "timezone_id": "UTC"}


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    """Run Chromium. Raises LookupError where there is none."""
    if (program := chromium()) is None:
        raise LookupError("there is no Chromium here")
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        # Its sandbox wants rights that containers lack, and /dev/shm is small there.
        args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--font-render-hinting=none"]
        browser = await playwright.chromium.launch(executable_path=program, args=args)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class House:
    """One test's view of the product: it opens windows, and keeps what was seen in them when the test fails."""

    product: Product
    browser: Browser
    onlooker: Onlooker = field(default_factory=Onlooker)
    windows: list[tuple[str, BrowserContext]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address of the api now."""
        return str(self.product.ready["api_url"])

    async def window(self, whose: str, **options: Any) -> BrowserContext:
        """Open a window; options are those of a browser context."""
        context = await self.browser.new_context(base_url=self.url, **{"viewport": DESK, **PACE, **options})
        context.set_default_timeout(PATIENCE_MS)
        self.onlooker.watch(context, whose)
        await context.tracing.start(snapshots=True)
        self.windows.append((whose, context))
        return context

    async def staff(self, name: str, page: str = "/console/", tenant: str = "", **options: Any) -> Page:
        """Sign in a person of the staff, by the page that people use, and go to one of the pages."""
        context = await self.window(name, **options)
        view = await context.new_page()
        await view.goto(f"/console/sign-in?next={quote(page)}")
        form = view.locator("form.people").filter(has=view.locator(f"button[value^='{tenant} ']")) if tenant else view
        await form.get_by_role("button", name=name).first.click()
        await expect(view.get_by_role("navigation", name="Pages", exact=True)).to_be_visible()
        await view.wait_for_load_state()  # its keys are there
        return view

    async def customer(self, of: Order, **options: Any) -> Page:
        """Open the chat as the customer of an order, by the entrance that the demo has."""
        view = await self._entrance(of.customer, of.tenant, options)
        person = self.person(of)
        chosen = view.get_by_role("button").filter(has_text=person["name"]).filter(has_text=person["about"])
        everybody = view.get_by_role("button", name="Show all")
        await expect(chosen.or_(everybody).first).to_be_visible()
        if not await chosen.count():
            await everybody.click()
        await chosen.first.click()
        await expect(view.get_by_role("log")).to_be_visible()
        return view

    async def visitor(self, tenant: str, **options: Any) -> Page:
        """Open the chat without saying who one is."""
        view = await self._entrance("visitor", tenant, options)
        await view.get_by_role("button", name="Go on without signing in").click()
        await expect(view.get_by_role("log")).to_be_visible()
        return view

    async def _entrance(self, whose: str, tenant: str, options: dict[str, Any]) -> Page:
        view = await (await self.window(whose, **options)).new_page()
        await view.goto(f"/chat/?tenant={quote(tenant)}")
        return view

    def person(self, of: Order) -> dict[str, str]:
        """Return the customer of an order as the entrance shows them: `name`, `about`."""
        told = self.product.http.get(f"{self.url}/sessions/people").json()["tenants"]
        people: list[dict[str, str]] = next(t["customers"] for t in told if t["id"] == of.tenant)
        return next(person for person in people if person["id"] == of.customer)

    def events(self, tenant: str, conversation_id: str) -> list[dict[str, Any]]:
        """Return the whole log of a conversation, as a manager sees it."""
        path = f"/conversations/{conversation_id}/events?after=0"
        answer = self.product.call("GET", path, self._manager(tenant))
        return list(answer.json()["events"])

    def waiting(self, what: str) -> list[dict[str, Any]]:
        """Return what a manager of the market sees waiting: `approvals` or `drafts`."""
        return list(self.product.call("GET", f"/{what}", self._manager(MARKET)).json()["items"])

    def _manager(self, tenant: str) -> str:
        return self.product.token("staff", tenant, "manager-1")

    async def restart_api(self) -> None:
        """Kill the api; return when another has taken its place."""
        before = self.product.ready["pids"]["api"]
        os.kill(before, signal.SIGKILL)
        end = time.monotonic() + RESTART_S
        while self.product.ready["pids"]["api"] == before or not self._answers():
            assert time.monotonic() < end, "no other api came up"
            await asyncio.sleep(0.1)

    def _answers(self) -> bool:
        try:
            return self.product.http.get(f"{self.url}/readyz").is_success
        except httpx.TransportError:
            return False

    async def close(self, keep: Path | None) -> None:
        """Close every window; with `keep`, write down what was seen in each, for whoever looks for the cause."""
        for number, (whose, context) in enumerate(self.windows):
            stem = f"{number}-{whose.replace(' ', '-').replace('/', '-')}"
            if keep is not None:
                for count, page in enumerate(context.pages):
                    await page.screenshot(path=keep / f"{stem}-{count}.png", full_page=True)
                await context.tracing.stop(path=keep / f"{stem}.zip")
            await context.close()
