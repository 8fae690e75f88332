"""Measures of understanding: what is counted, with which interval, and which rows are refused."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import evals
from domain.share import Share
from domain.understanding import Intent
from evals.tables import show
from evals.understanding import Row, RowsInvalid, measure, rows_of
from language.reporting import Report

SAID = {
    "a": Report(
        language="en", intents=(Intent.ORDER_STATUS,), asks_for_person=False, out_of_scope=False, route="rules"
    ),
    "b": Report(language="de", intents=(Intent.OUT_OF_SCOPE,), asks_for_person=False, out_of_scope=True, route="rules"),
    "c": Report(
        language="fr",
        intents=(Intent.REFUND_REQUEST, Intent.ASKS_FOR_PERSON),
        asks_for_person=True,
        out_of_scope=False,
        route="classifier",
    ),
}


def test_every_count_is_of_what_the_rows_say() -> None:
    rows = [
        Row(text="a", lang="en", intents=(Intent.ORDER_STATUS,)),
        Row(text="b", lang="de", intents=(Intent.REFUND_REQUEST,)),
        Row(text="b", lang="en", intents=(Intent.OUT_OF_SCOPE,)),
        Row(text="c", lang="fr", intents=(Intent.REFUND_REQUEST, Intent.ASKS_FOR_PERSON)),
        Row(text="a", lang="fr", label=True),
        Row(text="c", lang="fr", label=False),
    ]
    found = measure(rows, SAID.__getitem__, lambda: None)
    assert found.intent == Share(hits=3, of=4)
    assert found.all_intents == Share(hits=1, of=1)
    assert found.by_class["refund_request"] == Share(hits=1, of=2)
    assert found.precision["out_of_scope"] == Share(hits=1, of=2)
    assert found.language == Share(hits=4, of=6)
    assert found.person_recall == Share(hits=1, of=2)
    assert found.person_false_alarms == Share(hits=1, of=4)
    assert found.outside_handed_off == Share(hits=1, of=1)
    assert found.inside_handed_off == Share(hits=1, of=2)
    assert found.routes == {"rules": 4, "classifier": 2}
    out = io.StringIO()
    show(found, Console(file=out, width=160))
    assert "asks for a person: recall" in out.getvalue()
    json.dumps(found.figures())


@given(st.integers(1, 500), st.data())
def test_an_interval_holds_its_share(of: int, data: st.DataObject) -> None:
    share = Share(hits=data.draw(st.integers(0, of)), of=of)
    low, high = share.interval
    assert share.value is not None
    assert 0 <= low <= share.value + 1e-9
    assert share.value - 1e-9 <= high <= 1


def test_an_interval_is_wilsons() -> None:
    low, high = Share(hits=8, of=10).interval
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: not a JSON object"),
        ('{"lang": "en"}', "line 2: text"),
        ('{"text": "x", "intent": "fly"}', "line 2: intents"),
        ("[1]", "line 2: not a JSON object"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(line: str, says: str) -> None:
    with pytest.raises(RowsInvalid, match=says):
        list(rows_of(['{"text": "fine"}', line]))


def test_our_own_rows_can_be_used() -> None:
    folder = Path(evals.__file__).parent / "data"
    person = list(rows_of((folder / "person.jsonl").read_text(encoding="utf-8").splitlines()))
    intents = list(rows_of((folder / "intents.jsonl").read_text(encoding="utf-8").splitlines()))
    assert all(row.label is not None for row in person)
    assert {i for row in intents for i in row.intents} >= set(Intent) - {Intent.ACTION_STATUS, Intent.ASKS_FOR_PERSON}
