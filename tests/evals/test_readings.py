"""Laws of measuring readings: what is counted, whose figure stands, and that the block printed admits its route."""

import json
from datetime import date
from typing import Any

import pytest

from activities.prompts import digests
from connectors.model_endpoints.reading import book_of
from domain.model import ModelRole, Route
from domain.model_reading import ModelReading
from evals.readings import Case, NoCases, Read, block_of, cases_of, figures_of, worst_of
from tests.connectors.test_models_file import ADMITTED, PLAIN


def read(case: Case, *intents: str, person: bool = False, seconds: float = 1.0) -> Read:
    plain: dict[str, Any] = {
        "intents": intents,
        "names": (),
        "asks_for_person": person,
        "corrects_earlier": False,
        "seeks_information": False,
        "urgent": False,
        "risks": (),
        "instructs_machine": False,
        "certainty": "sure",
    }
    reading = ModelReading.model_validate(plain) if intents else None
    return Read(case=case, reading=reading, seconds=seconds, cost_micros=100)


def test_a_case_without_an_answer_counts_as_read_wrong() -> None:
    status, asks, asks_not = cases_of(
        ['{"text": "a", "intent": "order_status"}', '{"text": "b", "label": 1}', '{"text": "c", "label": 0}'], "f"
    )
    assert figures_of([read(status, "order_status"), read(asks, "asks_for_person"), read(asks_not, "refusal")]) == {
        "answered": 1.0,
        "intents": 1.0,
        "person_recall": 1.0,
        "person_false_alarms": 0.0,
        "p95_s": 1.0,
        "cost_micros_per_case": 100.0,
    }
    lost = figures_of([read(status), read(asks), read(asks_not, "refusal", person=True)])
    assert (lost["answered"], lost["intents"], lost["person_recall"], lost["person_false_alarms"]) == (0.3333, 0, 0, 1)


def test_of_a_chain_the_worst_figure_stands() -> None:
    good, bad = {"intents": 0.9, "p95_s": 1.0}, {"intents": 0.8, "p95_s": 2.0}
    assert worst_of([good, bad]) == worst_of([bad, good]) == {"intents": 0.8, "p95_s": 2.0}


def test_the_block_that_is_printed_admits_the_route() -> None:
    text, prompts = PLAIN.replace(ADMITTED, ""), digests()
    use = book_of(PLAIN, "f", prompts).roles[ModelRole.UNDERSTAND][Route.SMALL]
    block = block_of(Route.SMALL, use, {"intents": 0.9, "answered": 1.0}, 'held "out"', 3, date(2026, 11, 30))
    book = book_of(f"{text}\n{block}\n", "f", prompts)
    assert book.unevaluated == ()
    evaluation = book.roles[ModelRole.UNDERSTAND][Route.SMALL].evaluation
    assert evaluation is not None
    assert (evaluation.measured, evaluation.cases, evaluation.figures["intents"]) == ('held "out"', 3, 0.9)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("no JSON", "is no case"),
        ("[]", "is no case"),
        ('{"text": "a", "intent": "pay_me"}', "is no case"),
        ('{"intent": "refusal"}', "is no case"),
        ('{"text": "a"}', "says neither an intent nor a label"),
    ],
)
def test_a_line_that_is_no_case_is_named(line: str, wrong: str) -> None:
    with pytest.raises(NoCases, match=f"my.jsonl:2: {wrong}"):
        cases_of([json.dumps({"text": "a", "label": 1}), line], "my.jsonl")


def test_a_file_without_a_case_is_said_to_have_none() -> None:
    with pytest.raises(NoCases, match="holds no case"):
        cases_of([], "empty.jsonl")
