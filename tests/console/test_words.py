"""Laws of the words on the pages: every label of the contract has some, and every amount stands there exactly."""

from typing import Any

import pytest
from starlette.datastructures import FormData

from console import logbook, matters, payloads, proposing
from console.pages.conversation import temporal_address
from console.proposing import Unclear
from console.rendering import markdown
from domain.action import CATALOGUE, ActionKind, ActionState, Cause
from domain.handoff import HandoffReason

AT = "2026-11-30T10:00:00+00:00"
PAYLOAD: dict[str, Any] = {
    "customer_id": "c-1",
    "resource_version": 3,
    "amount_minor": 1_250,
    "currency": "EUR",
    "order_id": "A-1",
    "payment_id": None,
    "subscription_id": None,
    "payment_method_id": "pm-1",
    "plan": "basic",
    "new_plan": "pro",
    "item_ids": ["i-1", "i-2"],
}


def test_every_label_has_words_of_its_own() -> None:
    labels = [(matters.why, HandoffReason), (matters.state, ActionState), (matters.cause, Cause)]
    for words, names in labels:
        said = [words(name.value) for name in names]
        assert len(set(said)) == len(said)
    assert not [reason for reason in HandoffReason if matters.why(reason).lower() == reason.replace("_", " ")]


@pytest.mark.parametrize("kind", CATALOGUE)
def test_every_kind_of_action_is_said_in_words_and_numbers(kind: ActionKind) -> None:
    told = {**PAYLOAD, "kind": kind.value}
    unknown = payloads.deed({**told, "kind": "something_new"})
    assert payloads.deed(told).partition(" ")[0] != unknown.partition(" ")[0]
    assert ("Amount", "€12.50 (1250 minor units, EUR)") in payloads.rows(told)
    assert kind.value in proposing.NEEDS


def test_only_kinds_of_the_contract_are_offered() -> None:
    assert set(proposing.NEEDS) == {kind.value for kind in ActionKind}
    assert all(set(needs.on) == CATALOGUE[ActionKind(kind)].acts_on for kind, needs in proposing.NEEDS.items())


@pytest.mark.parametrize(
    ("written", "currency", "minor"),
    [("12.50", "EUR", 1_250), ("12,5", "EUR", 1_250), (" 7 ", "EUR", 700), ("0.29", "USD", 29), ("500", "JPY", 500)],
)
def test_an_amount_is_taken_exactly_as_written(written: str, currency: str, minor: int) -> None:
    assert proposing.minor_of(written, currency) == minor


@pytest.mark.parametrize(
    ("written", "currency"),
    [
        *(("1,999", "EUR"), ("1.999", "EUR"), ("12.505", "EUR"), ("5.5", "JPY"), ("-5", "EUR"), ("1e3", "EUR")),
        *(("", "EUR"), ("٣", "EUR"), ("5", "eur"), ("5", "")),
    ],
)
def test_an_amount_that_can_be_read_in_two_ways_is_not_taken(written: str, currency: str) -> None:
    with pytest.raises(Unclear):
        proposing.minor_of(written, currency)


def test_a_wish_names_what_its_kind_needs_and_nothing_else() -> None:
    form = FormData(
        [("kind", "return_items"), ("resource", "order:A-1"), ("item", "i-1"), ("item", "i-1"), ("amount", "9")]
    )
    assert proposing.wish_of(form) == {"kind": "return_items", "resource": "order:A-1", "item_ids": ["i-1", "i-1"]}
    exchange = FormData(
        [("kind", "exchange_items"), ("resource", "order:A-1"), ("exchange", "i-1>i-9"), ("exchange", "")]
    )
    with pytest.raises(Unclear, match="way to pay"):
        proposing.wish_of(exchange)


def test_a_human_stretch_has_both_ends_and_notes_stand_where_they_were_written() -> None:
    def event(seq: int, kind: str, actor: str = "bot:interlock", **body: Any) -> dict[str, Any]:
        return {"seq": seq, "kind": kind, "actor": actor, "at": f"2026-11-30T10:0{seq}:00+00:00", **body}

    events = [
        event(1, "understanding", intent="refund_request"),
        event(1, "customer_message", "customer:c-1", text="hello"),
        event(2, "owner_changed", "staff:s-1", owner="human"),
        event(3, "handoff", "staff:s-1", handoff_id="h-1", queue_status="claimed"),
        event(4, "owner_changed", "staff:s-1", owner="bot"),
    ]
    note = {"note_id": "n-1", "author": "s-1", "text": "careful", "at": "2026-11-30T10:02:30+00:00"}
    told = logbook.entries(events, [note])
    assert [entry.kind for entry in told] == ["customer_message", "owner_changed", "note", "handoff", "owner_changed"]
    assert [fact["kind"] for fact in told[0].behind] == ["understanding"]
    opened, ended = told[1].opens, told[4].ends
    assert opened is not None
    assert opened is ended
    assert (opened.who, opened.began_at, opened.ended_at) == ("staff:s-1", told[1].at, told[4].at)
    assert opened.handoff_id == "h-1"


def test_a_workflow_is_one_part_of_its_address() -> None:
    assert temporal_address(None, "default", "conversation/c-1") is None
    made = temporal_address("http://127.0.0.1:8233/", "default", "conversation/c-1")
    assert made == "http://127.0.0.1:8233/namespaces/default/workflows/conversation%2Fc-1"


def test_a_table_says_by_a_class_how_it_is_aligned_and_markup_stays_text() -> None:
    told = str(markdown("| a | b |\n|--:|:-:|\n| 1 | <b>2</b> |"))
    assert 'class="align-right"' in told
    assert 'class="align-center"' in told
    assert "style=" not in told
    assert "<b>" not in told
