"""Laws of the order in which finds come, and of what is certain enough to answer by itself."""

from datetime import UTC, datetime
from itertools import permutations

import pytest

from domain.knowledge import Audience
from domain.retrieval import Found, Hit, KnowledgeQuery, in_order

NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUERY = KnowledgeQuery(text="when?", languages=("de", "en"), reader=Audience.PUBLIC, at=NOW)


def hit(slug: str = "a", share: float = 0.0, nearness: float | None = None, **more: object) -> Hit:
    given: dict[str, object] = {"version": 1, "language": "de", "position": 0, "audience": "public", **more}
    return Hit.model_validate({"slug": slug, "share": share, "nearness": nearness, "effective_from": NOW, **given})


def first(*hits: Hit) -> Found:
    return in_order(QUERY, hits)[0]


def test_the_order_does_not_depend_on_how_the_hits_came() -> None:
    hits = (hit("a", 0.1, 0.85), hit("b", 0.9, 0.85), hit("c", 0.9, 0.85), hit("d", 0.0, 0.89))
    orders = {tuple(f.hit.slug for f in in_order(QUERY, some)) for some in permutations(hits)}
    assert orders == {("b", "c", "d")}


@pytest.mark.parametrize(
    ("hits", "certain"),
    [
        ((hit("a", 0.5, 0.90),), True),
        ((hit("a", 0.5, 0.84),), False),
        ((hit("a", 0.5, 0.90), hit("b", 0.5, 0.899)), False),  # as near as another article
        ((hit("a", 0.5, 0.90), hit("a", 0.5, 0.899, position=1)), True),  # of the same article
        ((hit("a", 0.5, 0.90, language="en"),), False),  # in another language than the customer's
        ((hit("a", 0.6),), True),  # by words alone
        ((hit("a", 0.6), hit("b", 0.5)), False),
        ((hit("a", 0.4),), False),
    ],
)
def test_only_what_is_near_and_ahead_and_in_the_language_is_certain(hits: tuple[Hit, ...], certain: bool) -> None:
    assert first(*hits).certain is certain


def test_what_comes_well_after_the_first_is_not_certain_and_no_more_come_than_asked_for() -> None:
    found = in_order(QUERY, [hit("a", 1.0, 0.95), hit("a", 1.0, 0.94, position=1), hit("b", 0, 0.8), hit("c", 0, 0.8)])
    assert [f.certain for f in found] == [True, False, False]


@pytest.mark.parametrize(
    ("other", "certain"),
    [
        (hit("a", 0.5, 0.899, position=1), [True, True]),  # there is no telling which of one page it is
        (hit("a", 0.5, 0.894, position=1), [True, False]),
        (hit("a", 0.5, 0.899, version=2), [True, False]),  # another version is another page
        (hit("b", 0.5, 0.899), [False, False]),
    ],
)
def test_passages_of_one_page_that_are_as_near_are_certain_together_or_not_at_all(
    other: Hit, certain: list[bool]
) -> None:
    assert [f.certain for f in in_order(QUERY, [other, hit("a", 0.5, 0.90)])] == certain


def test_each_says_why_it_was_chosen() -> None:
    assert first(hit("a", 0.5, 0.9, language="en")).why == (
        "full text: 0.50 of what was asked",
        "meaning: 0.90",
        "newest version in force, since 2026-03-01",
        "audience: public",
        "in en: it is not written in de",
    )


def test_nothing_found_is_no_order() -> None:
    assert in_order(QUERY, []) == ()
