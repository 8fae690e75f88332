"""What counts for a tenant from a moment on: the publications that are still to count, and the spans that they make.

Pure. Of those that are effective at a moment the last one counts, as `policy_in_force` in the database has it.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from domain.base import Noun
from store.policies import Publication


class Span(Noun):
    """A publication counts from `since` until `until`, or for good where that is None."""

    publication: Publication
    since: datetime
    until: datetime | None


def ahead(publications: Sequence[Publication], since: datetime) -> tuple[Publication, ...]:
    """Return those that may count at `since` or later, the oldest first; `publications` are all, the newest first.

    What is older than one that counts by then, and for good, never comes again.
    """
    found = []
    for one in publications:
        if one.effective_until is None or one.effective_until > since:
            found.append(one)
            if one.effective_until is None and one.effective_from <= since:
                break
    return tuple(reversed(found))


def spans(publications: Sequence[Publication], since: datetime, until: datetime | None = None) -> tuple[Span, ...]:
    """Return what counts from `since` until `until`, in order; `publications` are all, the newest first."""
    coming = ahead(publications, since)
    edges = {edge for one in coming for edge in (one.effective_from, one.effective_until) if edge is not None}
    within = sorted(edge for edge in edges if edge > since and (until is None or edge < until))
    found: list[Span] = []
    for start, end in pairwise([since, *within, until]):
        counting = [one for one in coming if start is not None and _effective(one, start)]
        if not counting or start is None:
            continue
        if found and found[-1].publication == counting[-1]:
            found[-1] = found[-1].model_copy(update={"until": end})
        else:
            found.append(Span(publication=counting[-1], since=start, until=end))
    return tuple(found)


def called_off(before: Sequence[Publication], now: Sequence[Publication], since: datetime) -> tuple[Publication, ...]:
    """Return those that were to count from later than `since`, and never will now that others were published.

    `before` and `now` are all publications, the newest first.
    """
    due = {span.publication.n for span in spans(before, since)} - {span.publication.n for span in spans(now, since)}
    return tuple(one for one in ahead(before, since) if one.effective_from > since and one.n in due)


def _effective(one: Publication, at: datetime) -> bool:
    return one.effective_from <= at and (one.effective_until is None or one.effective_until > at)
