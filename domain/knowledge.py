"""Articles and macros: what a tenant says about itself, in versions, each with its audience and its time.

A past ticket is no knowledge; an article that somebody has reviewed may have been made from one.
"""

from datetime import datetime
from enum import StrEnum

from domain.base import Noun


class Audience(StrEnum):
    """Who may read it."""

    PUBLIC = "public"
    SIGNED_IN = "signed_in"
    STAFF = "staff"


class ArticleKind(StrEnum):
    """What it is for: an article is quoted to customers, a macro is a reply that staff begin from."""

    ARTICLE = "article"
    MACRO = "macro"


class Article(Noun):
    """One version of a knowledge article in one language. `product_versions` empty: every version of the product."""

    slug: str
    version: int
    language: str
    title: str
    body: str  # Markdown
    audience: str = Audience.PUBLIC.value
    kind: ArticleKind = ArticleKind.ARTICLE
    product_versions: tuple[str, ...] = ()
    effective_from: datetime | None = None  # None: from its import on
    effective_until: datetime | None = None
    reviewed_by: str | None = None

    @property
    def ref(self) -> str:
        """`slug@version`, by which a segment cites it."""
        return f"{self.slug}@{self.version}"


PassageKey = tuple[str, str, int, int]  # slug, language, version, position: for good, within a tenant


class PassageRef(Noun):
    """Which passage, without its words: what a step and a history may hold."""

    slug: str
    version: int
    language: str
    position: int
    certain: bool

    @property
    def key(self) -> PassageKey:
        """What it is known by among its tenant's passages."""
        return self.slug, self.language, self.version, self.position


class Passage(Noun):
    """A passage of an article that a search has found. `position` counts from 0; `why` says how it was chosen.

    `certain`: near enough to the question that it may answer it by itself.
    """

    article: Article
    position: int
    text: str
    score: float
    certain: bool
    why: tuple[str, ...] = ()

    @property
    def ref(self) -> PassageRef:
        """The reference to it, without its words."""
        a = self.article
        return PassageRef(
            slug=a.slug, version=a.version, language=a.language, position=self.position, certain=self.certain
        )
