"""Laws of drafts on a page: let out once and in the words of the field, or kept in; what was changed is shown."""

from hypothesis import given
from hypothesis import strategies as st

from console.differences import compared
from domain.conversation import EventKind, Owner
from domain.principal import StaffRole, VerifiedPrincipal
from tests.conftest import MakeStaff, MakeTenant
from tests.console import staffroom
from tests.console.staffroom import Staffroom, words_of
from tests.gateway import conftest as gateway
from tests.store.drafting import ON_ITS_WAY, drafted
from tests.store.world import Talk

room, issuer, courier, make_doors = staffroom.room, gateway.issuer, gateway.courier, gateway.make_doors
tenant, customer, talk, agent = gateway.tenant, gateway.customer, gateway.talk, gateway.agent

Who = VerifiedPrincipal
EVIL = "</textarea><script>alert(1)</script>"


async def accept(room: Staffroom, draft_id: str, who: Who, text: str, request_id: str = "d-1") -> str:
    """What the page says after a draft was accepted in these words."""
    fields = {"decision": "accept", "request_id": request_id, "drafted": ON_ITS_WAY.text, "text": text}
    return words_of(await room.post(f"/drafts/{draft_id}/decisions", who, fields))


async def said(talk: Talk) -> list[str]:
    return [event.body["text"] for event in await talk.log(EventKind.BOT_REPLY)]


async def test_a_draft_stands_beside_what_it_answers(room: Staffroom, talk: Talk, agent: Who) -> None:
    draft_id = await drafted(talk)
    assert "Where is it?" in await room.words("/drafts", agent)
    page = await room.words(f"/drafts/{draft_id}", agent)
    assert "Where is it?" in page.partition("What the customer wrote")[2]
    assert ON_ITS_WAY.text in page.partition("What it rests on")[2]


async def test_what_is_in_the_field_goes_out_once(
    room: Staffroom, talk: Talk, agent: Who, make_staff: MakeStaff
) -> None:
    draft_id = await drafted(talk)
    told = await accept(room, draft_id, agent, f"{ON_ITS_WAY.text}\r\nIt comes {EVIL}.")
    assert "Sent in other words" in told
    (reply,) = await said(talk)
    assert reply.endswith(f"{ON_ITS_WAY.text}\nIt comes {EVIL}.")
    assert EVIL not in (await room.get(f"/drafts/{draft_id}", agent)).text
    other = make_staff(talk.tenant, StaffRole.AGENT, "ben")
    assert f"{agent.id} edited this draft at" in await accept(room, draft_id, other, "Something else.", "d-2")
    assert await said(talk) == [reply]


async def test_an_untouched_draft_is_accepted_as_it_is(room: Staffroom, talk: Talk, agent: Who) -> None:
    draft_id = await drafted(talk)
    assert "As it was drafted" in await accept(room, draft_id, agent, ON_ITS_WAY.text)
    assert await talk.all("SELECT state, change_permille FROM drafts") == [("accepted", 0)]


async def test_whoever_rejects_goes_on_with_the_conversation(room: Staffroom, talk: Talk, agent: Who) -> None:
    draft_id = await drafted(talk)
    fields = {"decision": "reject", "request_id": "d-1", "reason": "It is lost."}
    done = await room.post(f"/drafts/{draft_id}/decisions", agent, fields)
    assert done.headers["hx-redirect"] == f"/console/conversations/{talk.id}"
    assert (await talk.row()).owner is Owner.HUMAN
    assert await said(talk) == []
    assert "Rejected because: It is lost." in await room.words(f"/drafts/{draft_id}", agent)


async def test_a_draft_that_was_overtaken_says_why_and_sends_nothing(room: Staffroom, talk: Talk, agent: Who) -> None:
    draft_id = await drafted(talk)
    await talk.say("And the other one?")
    told = await accept(room, draft_id, agent, ON_ITS_WAY.text)
    assert "The customer has written again. Nothing of yours was sent." in told
    assert await said(talk) == []


async def test_a_draft_of_another_tenant_is_not_there(
    room: Staffroom, talk: Talk, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    draft_id = await drafted(talk)
    stranger = make_staff(make_tenant())
    assert draft_id not in (await room.get("/drafts", stranger)).text
    assert (await room.get(f"/drafts/{draft_id}", stranger)).status_code == 404


@given(st.text(alphabet="ab \n", max_size=40), st.text(alphabet="ab \n", max_size=40))
def test_stretches_put_both_texts_together_again(before: str, after: str) -> None:
    stretches = compared(before, after)
    assert "".join(one.text for one in stretches if one.how != "in") == before
    assert "".join(one.text for one in stretches if one.how != "out") == after
