"""What the routes of the knowledge take and answer."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from domain.knowledge import ArticleKind, Audience
from domain.shelf import PageVersion, ShelvedPage, Span, VersionState
from gateway.answers import Answer
from gateway.bodies import Body
from gateway.shapes import Text
from store.shelves import Macro

LANGUAGE = r"^[a-z]{2,3}$"
HITS_MAX = 20

Language = Annotated[str, Field(strict=True, pattern=LANGUAGE)]


class SearchKnowledge(Body):
    """A question, as somebody would ask it."""

    text: Text = Field(examples=["How long do I have to send something back?"])
    language: Language | None = Field(default=None, description="Default: every language that there is.")
    at: AwareDatetime | None = Field(default=None, description="As of then. Default: now.")
    audience: Audience = Field(default=Audience.STAFF, description="As whom: what they would be given.")
    limit: Annotated[int, Field(strict=True, ge=1, le=HITS_MAX)] = 5


class Shelf(Answer):
    """The pages of the tenant, by slug and language."""

    items: list[ShelvedPage]


class VersionShown(Answer):
    """One version with its words, in Markdown, and how it stands now."""

    page: PageVersion
    state: VersionState
    body: str


class PageShown(Answer):
    """A page: every version, the newest first within a language, and which of them counts when."""

    slug: str
    versions: list[VersionShown]
    timeline: list[Span]


class KnowledgeHit(Answer):
    """A passage that was found, and why. `certain`: near enough that the assistant may answer with it by itself."""

    slug: str
    version: int
    language: str
    title: str
    kind: ArticleKind
    audience: Audience
    position: int
    text: str
    score: float
    certain: bool
    why: list[str]


class KnowledgeFound(Answer):
    """What fits, likeliest first."""

    items: list[KnowledgeHit]


class Macros(Answer):
    """Replies that staff begin from; those that begin with what was typed come first."""

    items: list[Macro]
