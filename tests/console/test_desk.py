"""Laws of the desk's page: the staff read it, whoever manages the organisation changes it, and never blindly."""

import re
from datetime import date
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console import deskform
from domain.desk import DeskSettings, Holidays, Skills, Target, Targets, Urgency, UrgencyRules, Weekday
from domain.principal import StaffRole, VerifiedPrincipal
from tests.conftest import MakeStaff
from tests.console import staffroom
from tests.console.staffroom import Staffroom, words_of
from tests.gateway import conftest as gateway

room, issuer, courier, make_doors = staffroom.room, gateway.issuer, gateway.courier, gateway.make_doors
tenant, manager, agent, publish = gateway.tenant, gateway.manager, gateway.agent, gateway.publish

Who = VerifiedPrincipal
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
_FIELD = re.compile(
    r'<input[^>]* name="([^"]+)" value="([^"]*)"|<textarea[^>]* name="([^"]+)"[^>]*>\n([^<]*)</textarea>'
)


@st.composite
def documents(draw: st.DrawFn) -> DeskSettings:
    """Any document that the page can show."""
    spans = st.sampled_from([(), (("09:00", "17:00"),), (("08:30", "12:00"), ("13:00", "24:00"))])
    urgencies = st.dictionaries(NAMES, st.sampled_from(Urgency), max_size=4)
    seconds = st.integers(1, 60 * 24 * 3_600)
    targets = st.builds(Target, first_reply_s=seconds, next_reply_s=seconds, resolution_s=seconds)
    days = st.lists(st.dates(date(2026, 1, 1), date(2027, 1, 1)), max_size=3).map(tuple)
    return DeskSettings(
        timezone=draw(st.sampled_from(["UTC", "Europe/Berlin"])),
        hours={day: hours for day in Weekday if (hours := draw(spans))},
        holidays=Holidays(country=draw(st.sampled_from([None, "DE"])), closed=draw(days), open=draw(days)),
        urgency=UrgencyRules(by_reason=draw(urgencies), by_intent=draw(urgencies)),
        targets=Targets(urgent=draw(targets), high=draw(targets), normal=draw(targets), low=draw(targets)),
        skills=Skills(by_intent=draw(st.dictionaries(NAMES, NAMES, max_size=4))),
        claim_minutes=draw(st.integers(1, 60)),
    )


def typed(doc: dict[str, Any]) -> dict[str, str]:
    """The fields of the page as they stand before anybody has touched them."""
    fields = {day: deskform.spans_of(doc["hours"].get(day, [])) for day in deskform.DAYS}
    for urgency in deskform.URGENCIES:
        fields |= {f"{urgency}.{n}": deskform.minutes_of(doc["targets"][urgency][n]) for n in deskform.TARGETS}
    return fields | {
        "timezone": doc["timezone"],
        "country": doc["holidays"]["country"] or "",
        "subdivision": doc["holidays"]["subdivision"] or "",
        "closed": ", ".join(doc["holidays"]["closed"]),
        "open": ", ".join(doc["holidays"]["open"]),
        "by_reason": deskform.lines_of(doc["urgency"]["by_reason"]),
        "by_intent": deskform.lines_of(doc["urgency"]["by_intent"]),
        "skills": deskform.lines_of(doc["skills"]["by_intent"]),
        "claim_minutes": str(doc["claim_minutes"]),
        "recontact_hours": str(doc["recontact_hours"]),
    }


@given(documents())
def test_what_nobody_has_touched_stays_as_it_is(document: DeskSettings) -> None:
    shown = document.model_dump(mode="json")
    assert DeskSettings.model_validate(deskform.document_of(typed(shown), shown)) == document


@pytest.mark.parametrize(
    ("field", "text"), [("mon", "nine to five"), ("urgent.first_reply_s", "soon"), ("by_reason", "high_risk urgent")]
)
def test_what_cannot_be_read_is_refused_with_what_would_be_right(field: str, text: str) -> None:
    shown = DeskSettings().model_dump(mode="json")
    with pytest.raises(deskform.Mistyped, match=r"is typed as|whole number|name: value"):
        deskform.document_of({**typed(shown), field: text}, shown)


async def test_an_agent_reads_the_desk_and_changes_nothing_of_it(room: Staffroom, agent: Who) -> None:
    page = (await room.get("/desk", agent)).text
    assert 'value="00:00-24:00" autocomplete="off" readonly' in page
    assert "Addresses are shown to who manages the organisation." in page
    assert "Let it count" not in page
    refused = await room.post("/desk", agent, {**fields_of(page), "claim_minutes": "7"})
    assert refused.headers["X-Problem"] == "forbidden"
    assert fields_of((await room.get("/desk", agent)).text)["claim_minutes"] == "10"


async def test_an_admin_changes_it_and_not_over_somebody_elses_change(
    room: Staffroom, tenant: str, make_staff: MakeStaff
) -> None:
    admin = make_staff(tenant, StaffRole.ADMIN)
    shown = fields_of((await room.get("/desk", admin)).text)
    kept = await room.post("/desk", admin, {**shown, "claim_minutes": "7", "sun": ""})
    assert kept.status_code == 204
    late = await room.post("/desk", admin, {**shown, "claim_minutes": "8"})
    assert late.headers["X-Problem"] == "version-conflict"
    now = fields_of((await room.get("/desk", admin)).text)
    assert (now["claim_minutes"], now["sun"], now["sat"]) == ("7", "", "00:00-24:00")


async def test_a_time_that_makes_no_sense_is_told_by_its_field_and_changes_nothing(
    room: Staffroom, tenant: str, make_staff: MakeStaff
) -> None:
    admin = make_staff(tenant, StaffRole.ADMIN)
    shown = fields_of((await room.get("/desk", admin)).text)
    refused = words_of(await room.post("/desk", admin, {**shown, "mon": "17:00-09:00"}))
    assert "hours.mon: " in refused
    assert "body." not in refused
    assert fields_of((await room.get("/desk", admin)).text)["mon"] == "00:00-24:00"


def fields_of(page: str) -> dict[str, str]:
    """The fields of the document's form with what stands in them."""
    found = _FIELD.findall(page.partition('aria-label="The desk')[2].partition("</form>")[0])
    return {name or area: unescape(value or text) for name, value, area, text in found}
