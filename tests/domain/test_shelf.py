"""What a page's timeline says is what a search at that moment finds: the newest reviewed, in time, for the product."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge import ArticleKind, Audience
from domain.shelf import PageVersion, VersionState, shelved, state_of, timeline

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def version(
    n: int, since: int, until: int | None, *, reviewed: bool = True, product: tuple[str, ...] = ()
) -> PageVersion:
    return PageVersion(
        slug="returns",
        language="en",
        version=n,
        title="Returns",
        kind=ArticleKind.ARTICLE,
        audience=Audience.PUBLIC,
        product_versions=product,
        effective_from=BEGAN + since * DAY,
        effective_until=None if until is None else BEGAN + until * DAY,
        reviewed_by="Ada" if reviewed else None,
        imported_at=BEGAN,
    )


days = st.integers(0, 8)
drawn = st.tuples(days, st.one_of(st.none(), st.integers(1, 5)), st.booleans(), st.sampled_from([(), ("2",), ("2.4",)]))
pages = st.lists(drawn, min_size=1, max_size=6).map(
    lambda rows: [
        version(n, since, None if length is None else since + length, reviewed=reviewed, product=product)
        for n, (since, length, reviewed, product) in enumerate(rows, 1)
    ]
)


def searched(page: list[PageVersion], at: datetime, product: str | None) -> int | None:
    """The rule of the search, said anew: the newest that is reviewed, in time, and for that version of the product."""
    fitting = [
        one.version
        for one in page
        if one.reviewed_by
        and one.effective_from <= at
        and (one.effective_until is None or one.effective_until > at)
        and (
            not one.product_versions
            or any(product == k or (product or "").startswith(f"{k}.") for k in one.product_versions)
        )
    ]
    return max(fitting, default=None)


@given(pages, days)
def test_the_timeline_is_what_a_search_finds(page: list[PageVersion], day: int) -> None:
    at = BEGAN + day * DAY
    for product in {one.product_versions for one in page if one.reviewed_by}:
        spans = [
            s
            for s in timeline(page)
            if s.product_versions == product and s.since <= at and (s.until is None or at < s.until)
        ]
        assert [s.version for s in spans] == [v for v in [searched(page, at, product[0] if product else None)] if v]


@given(pages)
def test_spans_of_one_product_follow_each_other_and_never_repeat(page: list[PageVersion]) -> None:
    spans = timeline(page)
    for one, other in pairwise(spans):
        if one.product_versions == other.product_versions:
            assert one.until is not None
            assert one.until < other.since or (one.until == other.since and one.version != other.version)


@given(pages, days)
def test_what_is_in_force_is_found_by_somebody_and_what_is_superseded_by_nobody(
    page: list[PageVersion], day: int
) -> None:
    at = BEGAN + day * DAY
    found = {searched(page, at, product) for product in (None, "2", "2.4", "2.9")}
    for one in page:
        state = state_of(one, page, at)
        if state is VersionState.SUPERSEDED:
            assert one.version not in found
        if one.version in found:
            assert state is VersionState.IN_FORCE


@pytest.mark.parametrize(
    ("page", "shown", "state", "upcoming"),
    [
        ([version(1, 0, None), version(2, 9, None)], 1, VersionState.IN_FORCE, 2),
        ([version(1, 0, None), version(2, 1, None)], 2, VersionState.IN_FORCE, None),
        ([version(1, 0, 1)], 1, VersionState.EXPIRED, None),
        ([version(1, 0, None), version(2, 0, None, reviewed=False)], 1, VersionState.IN_FORCE, None),
        ([version(1, 9, None)], 1, VersionState.UPCOMING, 1),
        ([version(1, 0, None, reviewed=False)], 1, VersionState.UNREVIEWED, None),
    ],
)
def test_a_page_is_shown_as_what_counts_or_as_its_newest(
    page: list[PageVersion], shown: int, state: VersionState, upcoming: int | None
) -> None:
    told = shelved(page, BEGAN + 4 * DAY)
    assert (told.shown.version, told.state, told.versions) == (shown, state, len(page))
    assert (told.upcoming.version if told.upcoming else None) == upcoming
