"""Whether a draft leaves it to the ledger to say what was or will be done (design §7, INVARIANT 6).

Pure; promises are never allowed, and a report only of what is a status in the evidence that it rests on.
"""

from collections.abc import Callable, Collection

from domain.reply import Author, Draft, Segment, Source
from policy.reply.claim_words import LANGUAGES, OUR_LANGUAGES, PROMISE, REPORT
from policy.reply.plain import plain
from policy.reply.status_words import STATUS, denied

Detector = Callable[[str, str], bool]


def truthful(
    draft: Draft,
    operation_ids: Collection[str],
    detector: Detector | None = None,
    published: Collection[str] = (),
    own_words: Callable[[Segment], str] = lambda segment: segment.text,
) -> bool | None:
    """Return the third check; None in a language whose words for it are not known, and without a detector.

    `detector(text, language)` reads what a model wrote, beside the words known here: of a segment only its `own_words`,
    without the sentences that it quotes. `published` are the texts that stand word for word in what the draft cites:
    policy as published, where the draft's author is ours.
    """
    ledger = [s for s in draft.segments if s.source is Source.LEDGER]
    if any(s.text or s.rests_on not in operation_ids for s in ledger):
        return False
    by_model = draft.author is Author.MODEL
    others = [s for s in draft.segments if s.source is not Source.LEDGER and (by_model or s.text not in published)]
    if any(_claims(_on_one_line(s) if by_model else s) for s in others):  # a list of ours has lines for a reason
        return False
    if by_model and detector is not None:
        return not any(detector(own, draft.language) for s in others if not s.is_beside and (own := own_words(s)))
    known = LANGUAGES if by_model else OUR_LANGUAGES
    return True if draft.language.partition("-")[0] in known or not others else None


def claims_are_read(language: str, detector: Detector | None) -> bool:
    """Return whether a model's words in this language could ever be found truthful here."""
    return detector is not None or language.partition("-")[0] in LANGUAGES


def claims_in_words(text: str) -> bool:
    """Return whether the words known here say that something was, is being or will be done."""
    return _claims(Segment(text=text, source=Source.TEMPLATE, rests_on="-"))


def _on_one_line(segment: Segment) -> Segment:
    return segment.model_copy(update={"text": " ".join(segment.text.split())})


def _claims(segment: Segment) -> bool:
    """Whether a segment promises something, or reports as done what is no status of its evidence."""
    text = plain(segment.text)
    if any(not denied(text, m.start()) and not _denied_within(m[0]) for m in PROMISE.finditer(text)):
        return True
    reports = [m[0] for m in REPORT.finditer(text) if not denied(text, m.start()) and not _denied_within(m[0])]
    if segment.source is Source.EVIDENCE:
        return any(not any(status.search(words) for status in STATUS.values()) for words in reports)
    return bool(reports)


def _denied_within(words: str) -> bool:
    """Whether a negation stands among the words, as in "has not been refunded"."""
    return denied(words, len(words))
