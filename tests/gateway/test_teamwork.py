"""What people do around a conversation, over HTTP: for staff alone, but the customer's ratings and what they saw."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.conversation import EventKind
from domain.principal import StaffRole, VerifiedPrincipal
from store.articles import add_article
from store.backtests import keep_backtest
from store.database import Database
from tests.conftest import MakeStaff
from tests.gateway.caller import Caller
from tests.postgres import Postgres
from tests.store.test_knowledge import indexed, page
from tests.store.world import Talk

Who = VerifiedPrincipal


def slug(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json().get("type", "").rpartition("/")[2]


async def put(caller: Caller, path: str, body: Any, who: Who) -> Any:
    return await caller.ask("PUT", path, who, json=body)


async def test_a_tag_is_put_on_and_taken_off_and_undone_by_the_inverse(caller: Caller, talk: Talk, agent: Who) -> None:
    path = f"/conversations/{talk.id}/tags"
    await caller.post(f"{path}/Rückläufer", {}, agent)
    told = (await caller.post(f"{path}/vip", {}, agent)).json()["items"]
    assert [(t["tag"], t["source"], t["added_by"]) for t in told] == [
        ("rückläufer", "staff", agent.key),
        ("vip", "staff", agent.key),
    ]
    assert (await caller.get("/tags", agent)).json()["items"][0] == {"tag": "rückläufer", "conversations": 1}
    left = await caller.ask("DELETE", f"{path}/vip", agent)
    assert [t["tag"] for t in left.json()["items"]] == ["rückläufer"]
    assert [t["tag"] for t in (await caller.post(f"{path}/vip", {}, agent)).json()["items"]] == ["rückläufer", "vip"]


@pytest.mark.parametrize("given", ["two%20words", "-x", "a" * 49, "%F0%9F%98%80", "a%00"])
async def test_what_is_no_tag_is_none(caller: Caller, talk: Talk, agent: Who, given: str) -> None:
    for method in ("POST", "DELETE"):
        assert slug(await caller.ask(method, f"/conversations/{talk.id}/tags/{given}", agent)) == (404, "not-found")


async def test_notes_are_between_the_staff(caller: Caller, talk: Talk, agent: Who, manager: Who, customer: Who) -> None:
    path = f"/conversations/{talk.id}/notes"
    body = {"note_id": "n-1", "text": "Called <b>twice</b>."}
    note = (await caller.post(path, body, agent)).json()
    assert (note["author"], note["name"], note["text"]) == (agent.id, agent.id, body["text"])
    assert slug(await caller.post(path, {**body, "text": "Other."}, agent)) == (409, "request-conflict")
    assert slug(await caller.post(path, {**body, "text": " "}, agent)) == (422, "invalid-request")
    assert slug(await caller.post(path, {"note_id": "n-2", "text": "x" * 9_000}, agent)) == (422, "invalid-request")
    assert (await caller.get(path, manager)).json() == {"items": [note]}
    assert slug(await caller.get(path, customer)) == (403, "forbidden")
    assert "twice" not in (await caller.get(f"/conversations/{talk.id}/events", agent)).text
    assert slug(await caller.ask("DELETE", f"{path}/n-1", manager)) == (403, "forbidden")
    assert (await caller.ask("DELETE", f"{path}/n-1", agent)).json() == {"note_id": "n-1"}
    assert (await caller.get(path, manager)).json() == {"items": []}


async def test_a_conversation_is_assigned_and_sleeps_until_it_is_taken_back(
    caller: Caller, talk: Talk, agent: Who, manager: Who
) -> None:
    path = f"/conversations/{talk.id}"
    for staff_id in (manager.id, None):
        assert (await put(caller, f"{path}/assignee", {"staff_id": staff_id}, agent)).json() == {"staff_id": staff_id}
    assert slug(await put(caller, f"{path}/assignee", {"staff_id": "nobody"}, agent)) == (409, "refused")
    assert slug(await put(caller, f"{path}/assignee", {}, agent)) == (422, "invalid-request")
    now = datetime.now(UTC)
    for until in (now + timedelta(hours=1), None):
        told = (await put(caller, f"{path}/snooze", {"until": until.isoformat() if until else None}, agent)).json()
        assert (told["until"] and datetime.fromisoformat(told["until"])) == until
    for wrong in ((now - timedelta(1)).isoformat(), (now + timedelta(400)).isoformat(), "2030-01-01T00:00:00", "soon"):
        assert slug(await put(caller, f"{path}/snooze", {"until": wrong}, agent)) == (422, "invalid-request")


async def test_staff_see_who_is_there_and_how_far_the_customer_has_read(
    caller: Caller, talk: Talk, agent: Who, manager: Who, customer: Who
) -> None:
    await talk.say()
    path = f"/conversations/{talk.id}"
    await put(caller, f"{path}/presence", {"state": "typing"}, agent)
    there = (await put(caller, f"{path}/presence", {"state": "looking"}, manager)).json()
    assert {(p["staff"], p["state"]) for p in there["items"]} == {(agent.id, "typing"), (manager.id, "looking")}
    for seq, seen in ((1, 1), (0, 1), (99, 1)):
        assert (await put(caller, f"{path}/seen", {"seq": seq}, customer)).json() == {"seq": seen}
    left = (await put(caller, f"{path}/presence", {"state": "gone"}, agent)).json()
    assert ([p["staff"] for p in left["items"]], left["customer"]) == ([manager.id], {"here": False, "seen_seq": 1})
    assert (await caller.get(f"{path}/presence", agent)).json() == left
    assert slug(await caller.get(f"{path}/presence", customer)) == (403, "forbidden")
    assert slug(await put(caller, f"{path}/seen", {"seq": 1}, agent)) == (403, "forbidden")


async def test_a_view_is_saved_shared_and_deleted_by_its_owner(caller: Caller, agent: Who, manager: Who) -> None:
    filters = {"language": "de", "snoozed": True}
    saved = await caller.post("/views", {"name": " German ", "filters": filters, "shared": True}, agent)
    assert saved.status_code == 201
    view = saved.json()
    assert (view["name"], view["filters"], view["mine"]) == ("German", filters, True)
    assert (await caller.get("/views", manager)).json() == {"items": [{**view, "mine": False}]}
    assert slug(await caller.ask("DELETE", f"/views/{view['id']}", manager)) == (403, "forbidden")
    assert (await caller.ask("DELETE", f"/views/{view['id']}", agent)).json() == {"id": view["id"]}
    for wrong in (
        {"name": "", "filters": {}},
        {"name": "x", "filters": {"A B": "x"}},
        {"name": "x", "filters": {"a": 1}},
    ):
        assert slug(await caller.post("/views", wrong, agent)) == (422, "invalid-request")


async def test_a_customer_rates_answers_of_their_own_conversation(
    caller: Caller, talk: Talk, agent: Who, customer: Who, visitor: Who
) -> None:
    await talk.say()
    await talk.publish()
    answer = (await talk.log(EventKind.BOT_REPLY))[0].seq
    path = f"/conversations/{talk.id}/ratings"
    rated = (await caller.post(path, {"seq": answer, "score": 5, "comment": "quick"}, customer)).json()
    for who in (customer, agent):
        assert (await caller.get(path, who)).json() == {"items": [rated]}
    assert slug(await caller.post(path, {"seq": 1, "score": 5}, customer)) == (409, "refused")
    for score in (0, 6, 2.5, True, "5"):
        assert slug(await caller.post(path, {"seq": answer, "score": score}, customer)) == (422, "invalid-request")
    assert slug(await caller.post(path, {"seq": answer, "score": 1}, visitor)) == (404, "not-found")
    assert slug(await caller.post(path, {"seq": answer, "score": 1}, agent)) == (403, "forbidden")


async def test_who_received_a_handoff_rates_it(caller: Caller, talk: Talk, agent: Who, manager: Who) -> None:
    handed = await talk.ask_for_person()
    path = f"/handoffs/{handed.handoff_id}/rating"
    body = {"score": 2, "right_to_escalate": False, "note": "The order status was known."}
    assert slug(await caller.post(path, body, agent)) == (403, "forbidden")
    await talk.take_over(agent)
    rated = (await caller.post(path, body, agent)).json()
    assert {name: rated[name] for name in body} == body
    assert slug(await caller.post(path, body, manager)) == (403, "forbidden")


# ------------------------------------------------------------ knowledge and backtests
@pytest.fixture
async def shelves(postgres: Postgres, tenant: str) -> None:
    """A page in two versions and a language more, one that nobody has reviewed, and two macros."""
    owner_db = Database(postgres.owner_url, 1)
    pages = (
        page(version=1),
        page(version=2, body="You may return items within 60 days."),
        page(version=1, language="de", title="Rückgabe", body="Sie haben 30 Tage."),
        page(slug="draft", reviewed_by=None),
        page(slug="hello", kind="macro", title="Greeting", body="Hello, thank you for waiting."),
        page(slug="sorry", kind="macro", title="Apology", body="I am sorry. Hello again."),
    )
    async with owner_db.transaction(tenant) as tx:
        for one in pages:
            await add_article(tx, tenant, indexed(one))
    await owner_db.close()


@pytest.mark.usefixtures("shelves")
async def test_the_shelves_show_every_page_and_what_counts(caller: Caller, agent: Who, customer: Who) -> None:
    items = (await caller.get("/knowledge", agent)).json()["items"]
    assert [(i["shown"]["slug"], i["shown"]["language"], i["shown"]["version"], i["state"]) for i in items] == [
        ("draft", "en", 1, "unreviewed"),
        ("hello", "en", 1, "in_force"),
        ("returns", "de", 1, "in_force"),
        ("returns", "en", 2, "in_force"),
        ("sorry", "en", 1, "in_force"),
    ]
    for query, count in (("kind=macro", 2), ("language=de", 1), ("audience=staff", 0)):
        assert len((await caller.get(f"/knowledge?{query}", agent)).json()["items"]) == count, query
    shown = (await caller.get("/knowledge/returns?language=en", agent)).json()
    assert [(v["page"]["version"], v["state"]) for v in shown["versions"]] == [(2, "in_force"), (1, "superseded")]
    assert [(s["version"], s["until"]) for s in shown["timeline"]] == [(2, None)]
    assert slug(await caller.get("/knowledge/none", agent)) == (404, "not-found")
    assert slug(await caller.get("/knowledge", customer)) == (403, "forbidden")


@pytest.mark.usefixtures("shelves")
async def test_a_search_is_as_a_reader_would_have_it_and_says_why(caller: Caller, agent: Who) -> None:
    asked = {"text": "return items", "language": "en", "audience": "public"}
    (hit,) = (await caller.post("/knowledge/search", asked, agent)).json()["items"]
    assert (hit["slug"], hit["version"], hit["text"]) == ("returns", 2, "You may return items within 60 days.")
    assert "audience: public" in hit["why"]
    before = {**asked, "at": "2020-01-01T00:00:00Z"}
    assert (await caller.post("/knowledge/search", before, agent)).json()["items"] == []
    found = (await caller.post("/knowledge/search", {"text": "return items"}, agent)).json()["items"]
    assert {h["slug"] for h in found} >= {"returns", "draft"}  # staff find what nobody has reviewed


@pytest.mark.usefixtures("shelves")
async def test_macros_that_begin_with_what_was_typed_come_first(caller: Caller, agent: Who) -> None:
    for typed, slugs in (("hello", ["hello", "sorry"]), ("", ["sorry", "hello"]), ("SORRY", ["sorry"]), ("%", [])):
        told = await caller.get("/macros", agent, params={"q": typed, "language": "en"})
        assert [m["slug"] for m in told.json()["items"]] == slugs, typed
    assert slug(await caller.get("/macros?q=%00", agent)) == (422, "invalid-request")


async def test_a_kept_backtest_is_read_by_the_staff_of_its_tenant(
    caller: Caller, db: Database, agent: Who, customer: Who, make_tenant: Any, make_staff: MakeStaff
) -> None:
    report: dict[str, Any] = {
        "under": "mine",
        "against": None,
        "since": None,
        "decisions": 9,
        "same": 7,
        "flipped": 2,
        "flips": [],
    }
    ident = await keep_backtest(db, agent.tenant_id, report)
    (listed,) = (await caller.get("/policy/backtests", agent)).json()["items"]
    assert (listed["id"], listed["under"], listed["flipped"]) == (ident, "mine", 2)
    assert (await caller.get(f"/policy/backtests/{ident}", agent)).json()["report"] == report
    stranger = make_staff(make_tenant(), StaffRole.ADMIN)
    assert (await caller.get("/policy/backtests", stranger)).json() == {"items": []}
    assert slug(await caller.get(f"/policy/backtests/{ident}", stranger)) == (404, "not-found")
    assert slug(await caller.get("/policy/backtests", customer)) == (403, "forbidden")
