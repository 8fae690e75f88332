"""Laws of the measures: what is told of few is unsure, and an interval holds the value that it is of."""

import random
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.measures import Figure, Observed, grouped, mean, measure, quantile

DAY = date(2026, 11, 30)


def seen(figure: Figure, **more: Any) -> Observed:
    return Observed(figure=figure, group="g", day=DAY, **more)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=300).map(sorted), st.sampled_from([0.5, 0.95]))
def test_an_interval_holds_its_quantile_and_both_were_observed(values: list[float], q: float) -> None:
    found = quantile(values, q)
    assert found.value in values
    assert found.low is None or (found.low in values and found.low <= found.value)
    assert found.high is None or (found.high in values and found.high >= found.value)


def test_the_interval_of_a_median_covers_it_as_often_as_it_says() -> None:
    draw = random.Random(7)
    covered = 0
    for _ in range(2_000):
        found = quantile(sorted(draw.random() for _ in range(60)), 0.5)
        covered += found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    assert 0.93 <= covered / 2_000 <= 0.985


def test_of_a_few_values_no_end_is_made_up() -> None:
    found = quantile([1.0, 2.0], 0.95)
    assert (found.value, found.low, found.high) == (2.0, 2.0, None) or found.high is None
    assert quantile([], 0.5).value is None
    assert mean([4.0]).low is None
    assert mean([]).value is None


@given(st.integers(0, 400), st.integers(1, 400))
def test_a_share_lies_within_its_interval(hits: int, more: int) -> None:
    found = measure(Figure.CSAT, [seen(Figure.CSAT, hits=hits, of=hits + more)])
    assert found.n == hits + more
    assert found.value.low is not None
    assert found.value.value is not None
    assert found.value.high is not None
    assert 0 <= found.value.low <= found.value.value <= found.value.high <= 1


def test_nothing_observed_has_no_value() -> None:
    for figure in Figure:
        found = measure(figure, [])
        assert found.n == 0
        assert found.value.value in (None, 0)


@pytest.mark.parametrize("figure", list(Figure))
def test_what_is_observed_in_parts_is_the_same_as_at_once(figure: Figure) -> None:
    parts = [seen(figure, hits=2, of=5, values=(1.0, 3.0)), seen(figure, hits=1, of=1, values=(2.0,))]
    assert measure(figure, parts) == measure(figure, [seen(figure, hits=3, of=6, values=(1.0, 2.0, 3.0))])
    assert grouped(parts, lambda one: one.group)["g"][figure] == measure(figure, parts)
