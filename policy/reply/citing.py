"""From a model's segments to a draft: what each alias stands for, and what is wrong with how a segment cites.

Pure; a draft that comes out of here still has to pass every check.
"""

import re
from collections.abc import Sequence
from typing import assert_never

from domain.account import Evidence
from domain.action import Action
from domain.base import Noun
from domain.knowledge import Article
from domain.model_draft import ModelDraft, ModelSegment
from domain.reply import Author, Draft, Segment, SegmentKind, Source
from policy.reply.plain import shown
from policy.reply.tool_use import ToolUse

DRAFT_BYTES_MAX = 2_500  # in UTF-8, of all segments: whoever checks them reads every sentence, which takes its time
DRAFT_WORDS_MAX = 600  # and punctuation marks: what is made of crumbs takes the longest
SAME_ARTICLE_MAX = 8  # articles that one reply may be written from
_CRUMB = re.compile(r"\w+|[^\w\s]")


class Citable(Noun):
    """What may be cited, by the alias that it was handed out under: e1, k1, k2 …, a1, a2 …"""

    evidence: Evidence | None = None
    articles: tuple[Article, ...] = ()
    actions: tuple[Action, ...] = ()

    def resolve(self, alias: str) -> tuple[Source, str] | None:
        """Return what `alias` stands for, or None where it was never handed out."""
        kind, number = alias[:1], alias[1:]
        if not number.isascii() or not number.isdecimal() or number.startswith("0"):
            return None
        at = int(number) - 1
        match kind:
            case "e" if self.evidence is not None and at == 0:
                return Source.EVIDENCE, self.evidence.evidence_id
            case "k" if at < len(self.articles):
                return Source.ARTICLE, self.articles[at].ref
            case "a" if at < len(self.actions):
                return Source.LEDGER, self.actions[at].operation_id
            case _:
                return None

    def with_articles(self, found: Sequence[Article]) -> "Citable":
        """Return the same with further articles, each once and as many as one reply may be written from."""
        known = {(a.ref, a.language) for a in self.articles}
        new = [a for a in found if (a.ref, a.language) not in known]
        return self.model_copy(update={"articles": (*self.articles, *new)[:SAME_ARTICLE_MAX]})

    def alias_of(self, article: Article) -> str | None:
        """Return the alias under which `article` may be cited."""
        refs = [(a.ref, a.language) for a in self.articles]
        mine = (article.ref, article.language)
        return f"k{refs.index(mine) + 1}" if mine in refs else None


def objection(draft: ModelDraft, citable: Citable, use: ToolUse) -> str | None:
    """Return what is wrong with the form of an answer, in our own words, or None."""
    if draft.reads:
        return "Nothing more can be read: write the segments." if use.over or not use.allowed else None
    if not draft.segments:
        return "There was no segment."
    if _too_long(draft):
        return f"The segments may have {DRAFT_BYTES_MAX} bytes and {DRAFT_WORDS_MAX} words together: write less."
    return next((told for s in draft.segments if (told := _complaint(s, citable))), None)


def _too_long(draft: ModelDraft) -> bool:
    text = " ".join(segment.text for segment in draft.segments)
    return len(text.encode("utf-8", "ignore")) > DRAFT_BYTES_MAX or len(_CRUMB.findall(text)) > DRAFT_WORDS_MAX


def _complaint(segment: ModelSegment, citable: Citable) -> str | None:
    resolved = [citable.resolve(alias) for alias in segment.cites]
    if None in resolved:
        return "A segment cited an alias that was not given."
    sources = [found[0] for found in resolved if found]
    words = shown(segment.text, "").strip()
    match segment.kind:
        case SegmentKind.TEXT:
            fits = len(sources) == 1 and sources[0] in (Source.EVIDENCE, Source.ARTICLE) and bool(words)
            return None if fits else "Each text segment needs words and exactly one alias, of e1 or of an article."
        case SegmentKind.QUESTION:
            fits = sources in ([], [Source.EVIDENCE]) and bool(words)
            return None if fits else "A question segment needs words and cites nothing, or e1."
        case SegmentKind.ACTION_STATUS:
            fits = sources == [Source.LEDGER] and not words
            return None if fits else "An action_status segment has an empty text and cites exactly one operation."
        case _ as never:
            assert_never(never)


def draft_of(answer: ModelDraft, citable: Citable, language: str, prompt: str) -> Draft:
    """Return the draft of an answer without objection, in characters that can be seen.

    A question that cites nothing rests on the prompt alone.
    """
    segments = []
    for segment in answer.segments:
        source, rests_on = (citable.resolve(segment.cites[0]) if segment.cites else None) or (Source.TEMPLATE, prompt)
        text = "" if source is Source.LEDGER else shown(segment.text, language).strip()
        segments.append(Segment(text=text, source=source, rests_on=rests_on, kind=segment.kind))
    return Draft(language=language, segments=tuple(segments), author=Author.MODEL)
