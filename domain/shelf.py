"""Which version of a page counts when: for people who look after the knowledge, page by page.

Pure; a search decides the same in its one statement, for one reader at one moment.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum

from domain.base import Noun
from domain.knowledge import ArticleKind, Audience


class VersionState(StrEnum):
    """How a version stands at a moment, for those whom it is for."""

    IN_FORCE = "in_force"
    SUPERSEDED = "superseded"  # a newer one counts in its place
    UPCOMING = "upcoming"
    EXPIRED = "expired"
    UNREVIEWED = "unreviewed"  # staff alone find it


class PageVersion(Noun):
    """What is kept about one version of a page in one language; its words are kept apart."""

    slug: str
    language: str
    version: int
    title: str
    kind: ArticleKind
    audience: Audience
    product_versions: tuple[str, ...]
    effective_from: datetime
    effective_until: datetime | None
    reviewed_by: str | None
    imported_at: datetime

    def counts_at(self, at: datetime) -> bool:
        """Whether it is reviewed and within its time."""
        until = self.effective_until
        return self.reviewed_by is not None and self.effective_from <= at and (until is None or until > at)

    def is_for(self, product: tuple[str, ...]) -> bool:
        """Whether it is about all these versions of the product; () stands for every one."""
        known = self.product_versions
        covered = all(any(p == k or p.startswith(f"{k}.") for k in known) for p in product)
        return not known or (bool(product) and covered)

    def hides(self, other: "PageVersion") -> bool:
        """Whether it counts in place of `other` where both count: it is newer, and for whomever that one is for."""
        return self.version > other.version and self.is_for(other.product_versions)


class Span(Noun):
    """From then until then (None: for good), `version` is what readers are given."""

    language: str
    product_versions: tuple[str, ...]
    version: int
    since: datetime
    until: datetime | None


class ShelvedPage(Noun):
    """A page in one language: the version that counts or, where none does, the newest; and how it stands."""

    shown: PageVersion
    state: VersionState
    versions: int
    upcoming: PageVersion | None  # the next that will count


def state_of(one: PageVersion, of_page: Sequence[PageVersion], at: datetime) -> VersionState:
    """Return how a version stands at a moment among all versions of its page in its language."""
    if one.reviewed_by is None:
        return VersionState.UNREVIEWED
    if one.effective_from > at:
        return VersionState.UPCOMING
    if not one.counts_at(at):
        return VersionState.EXPIRED
    hidden = any(other.counts_at(at) and other.hides(one) for other in of_page)
    return VersionState.SUPERSEDED if hidden else VersionState.IN_FORCE


def shelved(of_page: Sequence[PageVersion], at: datetime) -> ShelvedPage:
    """Return a page as it stands at a moment; `of_page` are all its versions in one language, at least one."""
    newest_first = sorted(of_page, key=lambda one: -one.version)
    states = {one.version: state_of(one, of_page, at) for one in newest_first}
    in_force = [one for one in newest_first if states[one.version] is VersionState.IN_FORCE]
    to_come = [one for one in newest_first if states[one.version] is VersionState.UPCOMING]
    shown = (in_force or newest_first)[0]
    return ShelvedPage(
        shown=shown,
        state=states[shown.version],
        versions=len(of_page),
        upcoming=min(to_come, key=lambda one: one.effective_from, default=None),
    )


def timeline(of_page: Sequence[PageVersion]) -> tuple[Span, ...]:
    """Return what counts when of a page in one language, apart for each range of the product that a version names."""
    ranges = sorted({one.product_versions for one in of_page if one.reviewed_by is not None})
    return tuple(span for product in ranges for span in _spans(of_page, product))


def _spans(of_page: Sequence[PageVersion], product: tuple[str, ...]) -> Iterator[Span]:
    fitting = [one for one in of_page if one.reviewed_by is not None and one.is_for(product)]
    edges = sorted({one.effective_from for one in fitting} | {u for one in fitting if (u := one.effective_until)})
    last: Span | None = None
    for since, until in zip(edges, [*edges[1:], None], strict=True):
        winner = max((one.version for one in fitting if one.counts_at(since)), default=None)
        if last is not None and last.version == winner:
            last = last.model_copy(update={"until": until})
            continue
        if last is not None:
            yield last
        last = None
        if winner is not None:
            language = fitting[0].language
            last = Span(language=language, product_versions=product, version=winner, since=since, until=until)
    if last is not None:
        yield last
