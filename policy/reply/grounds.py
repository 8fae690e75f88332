"""Everything that a draft may rest on, and the readings of it that several checks share.

Pure; what is not in here supports nothing.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from domain.account import Evidence
from domain.action import Action
from domain.knowledge import Article
from domain.reply import Segment, Source
from policy.reply.fact_reading import unexplained
from policy.reply.facts import Facts, facts_of
from policy.reply.plain import plain

ID_LIKE = re.compile(
    r"(?<![\w-])(?=[\w-]*\d)(?:\d{5,}|(?=[\w-]*[^\W\d])[\w-]{4,}|\d[\d-]{4,}\d)(?![\w-])|(?<!\w)[a-z]+_\w{6,}"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？।])|\n")
_NAME_CHARS_MAX = 40
_MORE_THAN_A_NAME = re.compile(r"[<>@{}\n\r:!?]|https?:|www\.|\.\s", re.IGNORECASE)


@dataclass(frozen=True)
class Grounds:
    """Everything that a draft may rest on."""

    evidence: Evidence | None
    articles: dict[str, list[Article]]  # by `slug@version`: one for each language
    actions: dict[str, Action]
    customer_id: str
    now: datetime

    def pages(self, ref: str) -> list[str]:
        """Return the words of the article `slug@version`, in plain form, in each language that there is."""
        return [plain(f"{a.title}\n{a.body}") for a in self.articles.get(ref, ())]


def quotes(text: str, article: Article) -> bool:
    """Return whether plain `text` is taken from the article word for word, spacing aside."""
    return " ".join(text.split()) in " ".join(plain(f"{article.title}\n{article.body}").split())


def own_words(segment: Segment, grounds: Grounds) -> str:
    """Return the segment's text without the whole sentences that stand word for word in the article that it cites."""
    if segment.source is not Source.ARTICLE:
        return segment.text
    pages = {sentence for page in grounds.pages(segment.rests_on) for sentence in _sentences(page)}
    return " ".join(s for s in _sentences(segment.text) if " ".join(plain(s).split()) not in pages)


def _sentences(text: str) -> list[str]:
    return [part for s in _SENTENCE_END.split(text) if (part := " ".join(s.strip(" -*•#").split()))]


def without_own(segment: Segment, grounds: Grounds, *, names: bool = True, harmless: bool = False) -> str:
    """Return the segment's text without the customer's own ids and facts; of these, titles and places with `names`.

    `harmless`: only such titles and places as are nothing but words.
    """
    text = plain(segment.text)
    if grounds.evidence is None:
        return text
    facts = facts_of(grounds.evidence.account, grounds.now)
    facts = facts if names else replace(facts, names=frozenset())
    return unexplained(text, only_harmless(facts) if harmless else facts)


def only_harmless(facts: Facts) -> Facts:
    """Return the facts without titles and places that are long, lead somewhere or speak to somebody."""
    return replace(facts, names=frozenset(n for n in facts.names if is_harmless(n)))


def is_harmless(name: str) -> bool:
    """Return whether a title or a place may stand in words that a model chose."""
    return len(name) <= _NAME_CHARS_MAX and not _MORE_THAN_A_NAME.search(name)
