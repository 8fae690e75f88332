"""Laws of what counts when: of those that are effective the last one, and a plan says the same as the database."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from publishing.timeline import ahead, called_off, spans
from store.policies import Publication, PublicationCause

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def publication(n: int, begins: int, lasts: int | None) -> Publication:
    return Publication(
        n=n,
        digest=f"digest-{n}",
        cause=PublicationCause.PUBLISHED,
        effective_from=day(begins),
        effective_until=None if lasts is None else day(begins + lasts),
        published_by="staff:mia",
        note=None,
        published_at=DAY,
    )


def day(n: int) -> datetime:
    return DAY + timedelta(days=n)


terms = st.tuples(st.integers(0, 12), st.none() | st.integers(1, 6))
tenants = st.lists(terms, max_size=7).map(
    lambda found: [publication(n, *term) for n, term in reversed(list(enumerate([(0, None), *found], start=1)))]
)


def counting(known: Sequence[Publication], at: datetime) -> Publication:
    """As the database has it: of those that are effective, the one with the highest number."""
    effective = [p for p in known if p.effective_from <= at and (p.effective_until is None or p.effective_until > at)]
    return max(effective, key=lambda p: p.n)


@given(tenants, st.integers(0, 12))
def test_the_spans_say_at_every_moment_what_counts(known: list[Publication], since: int) -> None:
    found = spans(known, day(since))
    assert (found[0].since, found[-1].until) == (day(since), None)
    for one, following in pairwise(found):
        assert one.until == following.since
        assert one.publication != following.publication
    for at in map(day, range(since, 20)):
        [covering] = [s for s in found if s.since <= at and (s.until is None or s.until > at)]
        assert covering.publication == counting(known, at)


@given(tenants, st.integers(0, 12), st.integers(1, 6))
def test_spans_end_where_they_are_asked_to(known: list[Publication], since: int, lasts: int) -> None:
    until = day(since + lasts)
    assert spans(known, day(since), until)[-1].until == until


@given(tenants, st.integers(0, 12))
def test_nothing_that_comes_is_left_out(known: list[Publication], since: int) -> None:
    coming = {span.publication.n for span in spans(known, day(since))}
    assert coming <= {one.n for one in ahead(known, day(since))}


def test_what_was_to_come_and_never_will_is_told() -> None:
    before = [publication(3, 9, 2), publication(2, 5, None), publication(1, 0, None)]
    for_good, for_a_week = publication(4, 1, None), publication(4, 1, 6)
    assert [p.n for p in called_off(before, [for_good, *before], day(1))] == [2, 3]
    assert called_off(before, [for_a_week, *before], day(1)) == ()
