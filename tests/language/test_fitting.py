"""Fitting a small network: the same each time, right on what is easy, and over rows as they are."""

import numpy as np
import pytest

from language.fitting import DOUBT, fitted
from language.heads import probabilities

CHANCE = np.random.default_rng(7)
ROWS = (CHANCE.standard_normal((200, 12)) * np.linspace(0.01, 50, 12) + 30).astype(np.float32)  # of very uneven size
TARGETS = np.stack([ROWS[:, 3] > 30, ROWS[:, 0] > 30, np.zeros(200)], axis=1).astype(np.float64)

FITTED = fitted(ROWS, TARGETS, 1)


def test_the_same_rows_and_seed_give_the_same_network() -> None:
    again, other = fitted(ROWS, TARGETS, 1), fitted(ROWS, TARGETS, 2)
    assert all(
        np.array_equal(a, b) for one, two in zip(FITTED, again, strict=True) for a, b in zip(one, two, strict=True)
    )
    assert not np.array_equal(FITTED[0][0], other[0][0])


def test_what_is_easy_is_learnt_over_rows_as_they_are() -> None:
    told = probabilities([FITTED], ROWS)
    assert ((told > 0.5) == (TARGETS > 0.5)).mean() > 0.95


def test_no_answer_is_meant_to_be_surer_than_the_marks_are() -> None:
    told = probabilities([FITTED], ROWS)
    assert told[:, 2].mean() == pytest.approx(DOUBT / 2, abs=0.02)
