"""The law of what people write: markup and scripts in any field stay text, wherever they are shown."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

from playwright.async_api import Page, expect

from tests.browser.cases import Order, awaiting_staff
from tests.browser.chatting import ChatView
from tests.browser.house import IN_BROWSER, House
from tests.browser.world import MARKED, MARKET, MARKUP
from tests.whole.running import ROOT, Product

pytestmark = IN_BROWSER

ARTICLE = f"""---
slug: marked
language: en
title: "{MARKUP}"
effective_from: 2026-01-01
reviewed_by: "{MARKUP}"
---
{MARKUP}
"""


async def test_what_customers_and_shops_write_stays_text(house: House) -> None:
    chat = ChatView(await house.customer(Order(MARKET, MARKED, "")))
    await chat.say(f"{MARKUP} I want to talk to a person")
    await expect(chat.log.get_by_text("<script>").first).to_be_visible()
    await nothing_ran(chat.page)
    page = await house.staff("Chiara Rossi")
    await nothing_ran(page)
    await visit(page, f"/console/conversations/{await chat.conversation()}", "<script>")
    await page.locator("#text").fill("")
    await page.get_by_role("button", name="Note for the staff").click()
    await page.locator("#text").fill(MARKUP)
    await page.get_by_role("button", name="Keep the note").click()
    await expect(page.locator("#log .note").get_by_text("<script>")).to_be_visible()
    await nothing_ran(page)


async def test_orders_with_markup_stay_text_where_consent_is_given(house: House) -> None:
    world = house.product.shop("GET", "/_world")["tenants"][0]["customers"]
    large = next(o for c in world if c["id"] == MARKED for o in c["orders"] if o["captured_minor"] > 10_000)
    waiting = [i for i in house.waiting("approvals") if i["customer_id"] == MARKED]
    ident = waiting[0]["operation_id"] if waiting else awaiting_staff(house.product, Order(MARKET, MARKED, large["id"]))
    page = await house.staff("Chiara Rossi", f"/console/approvals/{ident}")
    await expect(page.locator("#detail").get_by_text("<script>").first).to_be_visible()
    await nothing_ran(page)


async def test_articles_views_and_tickets_with_markup_stay_text(house: House, tmp_path: Path) -> None:
    (tmp_path / "marked.md").write_text(ARTICLE)
    interlock(house.product, "knowledge", "import", str(tmp_path / "marked.md"), "--tenant", MARKET)
    ticket = {
        "type": "ticket.created",
        "ticket": {"id": uuid4().hex, "subject": MARKUP, "requester": {"id": "r-1", "customer_id": MARKED}},
        "message": {"id": uuid4().hex, "author": {"id": "r-1"}, "text": f"{MARKUP} I want to talk to a person"},
    }
    (tmp_path / "ticket.json").write_text(json.dumps(ticket))
    sent = interlock(house.product, "ticket", "send", str(tmp_path / "ticket.json"), "--tenant", MARKET)
    view = {"name": MARKUP, "filters": {"status": "waiting"}, "shared": True}
    token = house.product.token("staff", MARKET, "manager-1")
    assert house.product.call("POST", "/views", token, view).is_success
    page = await house.staff("Chiara Rossi", "/console/knowledge")
    await visit(page, "/console/knowledge", "<script>")
    await visit(page, "/console/knowledge/marked", "<script>")
    await visit(page, f"/console/conversations/{json.loads(sent)['conversation_id']}", "<script>")
    await visit(page, "/console/", "<script>")


async def visit(page: Page, path: str, text: str) -> None:
    await page.goto(path)
    await expect(page.locator("main").get_by_text(text).first).to_be_visible()
    await nothing_ran(page)


async def nothing_ran(page: Page) -> None:
    assert await page.evaluate("window.hit") is None


def interlock(product: Product, *words: str) -> str:
    """Run a command on the stack; return what it printed."""
    command = [sys.executable, "-m", "cli", *words, "--data-dir", str(product.data_dir)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
