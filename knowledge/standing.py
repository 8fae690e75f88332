"""Which articles count at a moment, among all versions that there are.

Pure; `store.knowledge` decides the same in the database for whoever reads.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from domain.knowledge import Article

_ALWAYS = datetime.min.replace(tzinfo=UTC)


def counting(articles: Sequence[Article], at: datetime) -> tuple[Article, ...]:
    """Return what is in force at a moment: of each slug and language the newest version, for each product version."""
    effective = [a for a in articles if (a.effective_from or _ALWAYS) <= at < (a.effective_until or _after(at))]
    return tuple(a for a in effective if not any(_supersedes(b, a) for b in effective))


def moments(articles: Sequence[Article], now: datetime) -> tuple[datetime, ...]:
    """Return `now` and every moment after it at which another article begins or ends to count, in order."""
    turns = {at for a in articles for at in (a.effective_from, a.effective_until) if at is not None and at > now}
    return (now, *sorted(turns))


def share_a_version(one: Article, other: Article) -> bool:
    """Return whether a customer may have a version of the product that both are about."""
    if not one.product_versions or not other.product_versions:
        return True
    return any(_holds(a, b) or _holds(b, a) for a in one.product_versions for b in other.product_versions)


def _holds(wide: str, narrow: str) -> bool:
    """Whether `narrow` is `wide` or a part of it, as 2.4 is of 2."""
    return narrow == wide or narrow.startswith(f"{wide}.")


def _supersedes(newer: Article, older: Article) -> bool:
    """Whether whoever could be given `older` is given `newer` instead."""
    if (newer.slug, newer.language) != (older.slug, older.language) or newer.version <= older.version:
        return False
    if not newer.product_versions:
        return True
    return bool(older.product_versions) and all(
        any(_holds(wide, narrow) for wide in newer.product_versions) for narrow in older.product_versions
    )


def _after(at: datetime) -> datetime:
    return datetime.max.replace(tzinfo=at.tzinfo)
