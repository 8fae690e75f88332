"""What is asked of words that a model chose, beyond what is asked of ours: they may say only what they cite.

Pure; every segment of text cites one thing, a question none or the evidence, and a status is left to the ledger.
"""

import re
from collections.abc import Container, Sequence

from domain.account import Account, Order
from domain.reply import Draft, Segment, SegmentKind, Source
from policy.reply.calendar_words import months, relative_days_in, weekdays_in
from policy.reply.fact_reading import day_patterns, days_meant, names_a_day, statuses_stand, unexplained
from policy.reply.facts import Facts, facts_of, own_ids
from policy.reply.grounds import Grounds, is_harmless, only_harmless
from policy.reply.links import leads_astray
from policy.reply.people import names_a_stranger, words_of
from policy.reply.plain import contains_word, plain, shown
from policy.reply.quantities import stand_in
from policy.reply.readers import Readers
from policy.reply.status_words import READ_IN, STATUS, denied

_DIGIT = re.compile(r"\d")
_VALUE_SIGN = re.compile(r"[€£¥$%₹₩₺₽]")
_ASKS = re.compile(r"[?？؟;]|か[。\s]*$|까요[.。\s]*$|吗[。\s]*$|吗[，,]")  # the Greek question mark is a semicolon
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{3}[.!?])\s+(?!\d)|(?<=[。！？।])|\n")
_LANGUAGE_LETTERS_MIN = 20  # below which a text's words do not tell its language


def model_supported(draft: Draft, grounds: Grounds, readers: Readers) -> bool:
    """Return whether every segment states nothing but what the one thing that it cites holds.

    INVARIANT: what a model wrote is published only as it was read: with a character that nobody sees it is not.
    """
    if any(shown(s.text, draft.language) != s.text for s in draft.segments):
        return False
    if draft.language.partition("-")[0] not in READ_IN:
        return False
    told = readers.language_of(plain(draft.text)) if readers.language_of else None
    long_enough = sum(c.isalpha() for c in draft.text) >= _LANGUAGE_LETTERS_MIN
    if told and long_enough and told != draft.language.partition("-")[0]:
        return False
    evident = [s for s in draft.segments if s.source is Source.EVIDENCE]
    return all(_segment_stands(s, grounds) for s in draft.segments) and _evidence_holds(evident, grounds)


def _segment_stands(segment: Segment, grounds: Grounds) -> bool:
    if segment.is_beside:
        return True
    text = plain(segment.text)
    match segment.kind:
        case SegmentKind.ACTION_STATUS:
            return segment.source is Source.LEDGER and not text and segment.rests_on in grounds.actions
        case SegmentKind.QUESTION:
            return bool(_ASKS.search(text)) and _question_stands(segment, text)
        case SegmentKind.TEXT:
            return bool(text.strip()) and _text_stands(segment, text, grounds)


def _question_stands(segment: Segment, text: str) -> bool:
    """A question may name the customer's own things where it cites the evidence, and states nothing itself."""
    if _tells_a_status(text) or segment.source not in (Source.EVIDENCE, Source.TEMPLATE):
        return False
    bare = not (_DIGIT.search(text) or _VALUE_SIGN.search(text) or weekdays_in(text) or relative_days_in(text))
    return bare or segment.source is Source.EVIDENCE


def _tells_a_status(text: str) -> bool:
    """Whether a status is told outside of a question."""
    sentences = [s for s in re.findall(r"[^.!?。！？؟।\n]+[.!?。！？؟।]*", text) if not _ASKS.search(s)]
    return any(not denied(s, m.start()) for s in sentences for p in STATUS.values() for m in p.finditer(s))


def _text_stands(segment: Segment, text: str, grounds: Grounds) -> bool:
    match segment.source:
        case Source.EVIDENCE:  # what it states is looked at with the segments around it
            evidence = grounds.evidence
            return evidence is not None and segment.rests_on == evidence.evidence_id and evidence.fresh(grounds.now)
        case Source.ARTICLE:
            return any(stand_in(text, page) for page in grounds.pages(segment.rests_on))
        case Source.TEMPLATE | Source.LEDGER:  # a model has no fixed words, and the ledger's are not its to write
            return False


def _evidence_holds(segments: Sequence[Segment], grounds: Grounds) -> bool:
    """Whether every sentence states only facts of what it names, or of what was last named."""
    if not segments or grounds.evidence is None:
        return not segments
    account, named = grounds.evidence.account, set[str]()
    ids = own_ids(account)
    for sentence in (part for s in segments for part in _sentences(plain(s.text))):
        named = {i.casefold() for i in ids if contains_word(sentence, i)} or named
        if not _sentence_holds(sentence, only_harmless(facts_of(account, grounds.now, named)), grounds):
            return False
    return True


def _sentences(text: str) -> list[str]:
    """The sentences of a text; the full stop of a month's short name ends none."""
    parts: list[str] = []
    for part in (p.strip() for p in _SENTENCE_END.split(text) if p.strip()):
        short = parts and parts[-1].rstrip(".").rpartition(" ")[2].casefold() in months() and not part[0].isupper()
        parts[-1:] = [f"{parts[-1]} {part}"] if short else [*parts[-1:], part]
    return parts


def _sentence_holds(sentence: str, facts: Facts, grounds: Grounds) -> bool:
    left = unexplained(sentence, facts)
    if _DIGIT.search(left) or _VALUE_SIGN.search(left):
        return False
    if any(days_meant(m) for pattern in day_patterns() for m in pattern.finditer(left)):
        return False
    days = {at.date() for at in facts.times}
    near = {(day - grounds.now.date()).days for day in days}
    if not relative_days_in(sentence) <= near or any(
        not d & {day.weekday() for day in days} for d in weekdays_in(sentence)
    ):
        return False
    then = names_a_day(sentence, facts) or bool(relative_days_in(sentence) or weekdays_in(sentence))
    return statuses_stand(_without_questions(left), facts, then=then)


def _without_questions(text: str) -> str:
    return "" if _ASKS.search(text) else text


def model_authorized(segment: Segment, grounds: Grounds) -> bool:
    """Return whether a segment leads nowhere that its article does not."""
    pages = grounds.pages(segment.rests_on) if segment.source is Source.ARTICLE else []
    return not leads_astray(plain(segment.text), pages)


def model_private(draft: Draft, grounds: Grounds, readers: Readers) -> bool:
    """Return whether a draft names nobody and nothing that stands neither in what it cites nor in the account."""
    cited = {s.rests_on for s in draft.segments}
    known = {w for ref in cited for page in grounds.pages(ref) for w in words_of(page)}
    if grounds.evidence is not None and grounds.evidence.evidence_id in cited:
        known |= _names_of(grounds.evidence.account)
    vocabulary = readers.vocabulary(draft.language)
    known_words = _Either(known, vocabulary)
    return not any(names_a_stranger(plain(s.text), draft.language, known_words) for s in draft.segments)


class _Either:
    """What is in one of two."""

    def __init__(self, one: Container[str], other: Container[str]) -> None:
        self._both = (one, other)

    def __contains__(self, word: object) -> bool:
        return any(word in words for words in self._both)


def _names_of(account: Account) -> set[str]:
    """The words by which the customer's own things are called."""
    named: list[str] = [*(p.name for p in account.plans), *(s.plan for s in account.subscriptions)]
    named += [a.label for a in account.addresses]
    for order in account.orders:
        named += [order.id, order.status, *_of_order(order)]
    named += [s.id for s in account.subscriptions] + [p.id for p in account.payments]
    return {w for name in named if is_harmless(name) for w in words_of(plain(name))}


def _of_order(order: Order) -> list[str]:
    titles = [i.title for i in order.items]
    if order.shipment is None:
        return titles
    parcel = order.shipment
    return [*titles, parcel.carrier or "", parcel.tracking_code or "", *(e.place or "" for e in parcel.events)]
