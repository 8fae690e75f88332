"""Drafts, the four checks, and the proof that a reply passed them (design §7).

Only `policy.reply.gate` mints a `CheckedReply`; only a `CheckedReply` can be published.
"""

from enum import StrEnum

from domain.base import Noun, digest_of


class Source(StrEnum):
    """What a segment may rest on."""

    EVIDENCE = "evidence"
    ARTICLE = "article"
    TEMPLATE = "template"  # fixed words that state no fact
    LEDGER = "ledger"  # rendered from an action's row, inside the publishing transaction


class SegmentKind(StrEnum):
    """What a stretch of a draft does."""

    TEXT = "text"
    QUESTION = "question"
    ACTION_STATUS = "action_status"  # its words come from the ledger alone


class Author(StrEnum):
    """Who chose the words of a draft: our templates and articles, word for word, or a model in its own words."""

    LOCAL = "local"
    MODEL = "model"


SHALL_I, NOTED = "next.shall_i", "next.noted"
BESIDE = frozenset({SHALL_I, NOTED})  # what our words about the rest of a message rest on, whoever wrote before them


class Segment(Noun):
    """One stretch of a draft and what it rests on: an evidence id, `slug@version`, an operation id, or a template."""

    text: str
    source: Source
    rests_on: str
    kind: SegmentKind = SegmentKind.TEXT

    @property
    def is_beside(self) -> bool:
        """Whether these are our words about what else was asked for; nothing that a model cites comes to these."""
        return self.source is Source.TEMPLATE and self.rests_on in BESIDE


class Draft(Noun):
    """What the bot would say. Status sentences are left to the ledger: their segments hold the operation id alone."""

    language: str
    segments: tuple[Segment, ...]
    author: Author = Author.LOCAL

    @property
    def text(self) -> str:
        """The words as one text."""
        return " ".join(s.text for s in self.segments if s.text)

    @property
    def digest(self) -> str:
        """The digest of exactly what would be sent."""
        return digest_of(self.model_dump(mode="json"))


class Checks(Noun):
    """The four checks of design §7; None means: could not be established, which is not True."""

    supported: bool | None
    authorized: bool | None
    action_status_truthful: bool | None
    privacy: bool | None

    @property
    def all_exactly_true(self) -> bool:
        """Whether every check is exactly True."""
        return all(c is True for c in (self.supported, self.authorized, self.action_status_truthful, self.privacy))

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that are not True."""
        return tuple(name for name, value in self.model_dump().items() if value is not True)


class Attempt(Noun):
    """A draft that was tried and did not pass, kept for staff alone. `failed` names the checks."""

    draft: Draft
    failed: tuple[str, ...]


class CheckedReply(Noun):
    """Proof that `draft` passed every check; `draft_digest` is of exactly what was checked."""

    draft: Draft
    draft_digest: str
