"""Laws of the chat's pages and words: framed where one may, closed to markup, whole in each language."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from console.app import create_pages
from console.doors import SESSION_COOKIE, ConsoleDoors
from console.rendering import HERE, STATIC
from domain.desk import DeskSettings, Widget
from gateway.app import create_app
from store.database import Database
from store.desk import set_desk
from tests.gateway import conftest as gateway

courier, issuer, make_doors, tenant = gateway.courier, gateway.issuer, gateway.make_doors, gateway.tenant

SHOP = "https://shop.example"
LANGUAGES = ["en", "es", "de", "fr", "pt", "it", "nl", "pl", "ru", "tr", "zh", "ja"]
WORDS = json.loads((STATIC / "chat" / "words.json").read_text("utf-8"))
SCRIPTS = {path.name: path.read_text("utf-8") for path in (STATIC / "chat").glob("*.js")}
PAGES = {path.name: path.read_text("utf-8") for path in (HERE / "templates" / "chat").glob("*.html")}
PLACES = re.compile(r"\{\w+\}")
EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
async def browser(make_doors: gateway.MakeDoors) -> AsyncIterator[httpx.AsyncClient]:
    """Whoever opens a page, over a real gateway."""
    app = create_app(make_doors())
    doors = ConsoleDoors(contract=app, public_url="https://interlock.example", form_key=b"k", session_ttl_s=60)
    app.router.routes.extend(create_pages(doors))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="https://interlock.example") as http:
        yield http


def framers(answer: httpx.Response) -> str:
    return answer.headers["content-security-policy"].partition("frame-ancestors ")[2]


async def test_only_the_sites_of_the_organisation_may_frame_its_chat(
    browser: httpx.AsyncClient, db: Database, tenant: str
) -> None:
    where = f"/chat/embed?tenant={tenant}"
    assert framers(await browser.get(where)) == "'self'"
    await set_desk(db, tenant, DeskSettings(widget=Widget(allowed_origins=(SHOP,))), 0, "staff:admin")
    framed = await browser.get(where)
    assert framers(framed) == f"'self' {SHOP}"
    assert "x-frame-options" not in framed.headers
    alone = await browser.get(f"/chat/?tenant={tenant}")
    assert (framers(alone), alone.headers["x-frame-options"]) == ("'none'", "DENY")


@pytest.mark.parametrize("of", ["nobody", EVIL, "../desk", "a; script-src *"])
async def test_a_tenant_that_is_not_there_has_no_page(of: str, browser: httpx.AsyncClient) -> None:
    for path in ("/chat/", "/chat/embed", "/chat/example"):
        answer = await browser.get(path, params={"tenant": of})
        assert (answer.status_code, framers(answer)) == (404, "'none'")
        assert EVIL not in answer.text


async def test_a_name_with_markup_in_it_is_a_name(
    browser: httpx.AsyncClient, tenant: str, owner: psycopg.Connection[Any]
) -> None:
    owner.execute("UPDATE tenants SET name = %s WHERE id = %s", (EVIL, tenant))
    for path in ("/chat/", "/chat/embed", "/chat/example"):
        shown = (await browser.get(path, params={"tenant": tenant})).text
        assert "<img src=x" not in shown
        assert "<script>alert" not in shown


async def test_a_session_of_the_staff_in_the_same_browser_is_not_used(browser: httpx.AsyncClient, tenant: str) -> None:
    browser.cookies.set(SESSION_COOKIE, "whatever")
    assert (await browser.get(f"/chat/?tenant={tenant}")).status_code == 200


async def test_all_that_the_pages_load_is_there_and_every_script_is_what_it_says(
    browser: httpx.AsyncClient, tenant: str
) -> None:
    for path in ("/chat/", "/chat/embed", "/chat/example"):
        page = (await browser.get(path, params={"tenant": tenant})).text
        for address in re.findall(r'(?:src|href)="(/[^"]+)"', page):
            loaded = await browser.get(address)
            assert loaded.status_code == 200
            if address.endswith(".js"):
                assert loaded.headers["content-type"].startswith("text/javascript")
    imported = {name for script in SCRIPTS.values() for name in re.findall(r'from "\./([\w.]+)"', script)}
    assert imported <= set(SCRIPTS)


async def test_the_widget_is_one_script_for_any_site(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/chat/widget.js")
    assert (answer.status_code, answer.headers["cross-origin-resource-policy"]) == (200, "cross-origin")
    assert "public, max-age=" in answer.headers["cache-control"]
    assert all(WORDS[language]["widget.open"] in answer.text for language in LANGUAGES)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_no_page_has_a_script_or_a_style_in_it(name: str) -> None:
    page = PAGES[name]
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
    assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:", page)


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_no_script_makes_markup_or_code_of_text(name: str) -> None:
    made = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setTimeout\(\s*[\"']"
    assert not re.search(made, SCRIPTS[name])


def test_nothing_is_said_to_be_done_by_a_word_for_what_is_under_way() -> None:
    """Of the states of a card, one alone says that it is done: that of a confirmed action."""
    cards = SCRIPTS["thread.js"]
    assert re.search(r'action\.state === "confirmed"\) return "done"', cards)
    assert cards.count('return "done"') == 1


def test_the_chat_speaks_each_language_of_the_product() -> None:
    assert list(WORDS) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_is_there_in_every_language_with_the_same_places(language: str) -> None:
    texts = WORDS[language]
    assert list(texts) == list(WORDS["en"])
    assert all(text.strip() == text and text for text in texts.values())
    wrong = [key for key in texts if sorted(PLACES.findall(texts[key])) != sorted(PLACES.findall(WORDS["en"][key]))]
    assert wrong == []


def test_every_word_that_is_asked_for_is_there_and_every_other_is_gone() -> None:
    code = "\n".join([*SCRIPTS.values(), *PAGES.values(), (HERE / "chat" / "widget.py").read_text("utf-8")])
    asked = set(re.findall(r'data-(?:word|label|hint)="([^"]+)"', code)) | set(re.findall(r'\bt\("([^"]+)"', code))
    begun = set(re.findall(r"`([a-z_]+\.(?:[a-z]+_)?)\$\{", code))
    assert asked - set(WORDS["en"]) == set()
    quoted = set(re.findall(r'"([a-z_]+(?:\.\w+)?)"', code))
    assert {key for key in WORDS["en"] if key not in quoted and not key.startswith(tuple(begun))} == set()


def test_whatever_the_docs_show_of_the_widget_is_there() -> None:
    told = (Path(HERE).parent / "docs" / "chat.md").read_text("utf-8")
    offered = SCRIPTS["widget.js"].partition("const api = {")[2]
    api = set(re.findall(r"^  (\w+)\(.*\) \{", offered, re.MULTILINE))
    assert set(re.findall(r"`InterlockChat\.(\w+)\(", told)) == api
