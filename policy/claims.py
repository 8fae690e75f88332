"""Whether a draft leaves it to the ledger to say what was or will be done (design §7, INVARIANT 6).

Pure; promises are never allowed, and a report only of what is a status in the evidence that it rests on.
"""

from collections.abc import Collection

from domain.reply import Draft, Segment, Source
from policy.claim_words import LANGUAGES, PROMISE, REPORT
from policy.plain import plain
from policy.status_words import STATUS, denied


def truthful(draft: Draft, operation_ids: Collection[str]) -> bool | None:
    """Return the third check; None in a language whose words for it are not known."""
    ledger = [s for s in draft.segments if s.source is Source.LEDGER]
    if any(s.text or s.rests_on not in operation_ids for s in ledger):
        return False
    others = [s for s in draft.segments if s.source is not Source.LEDGER]
    if any(_claims(s) for s in others):
        return False
    return True if draft.language.partition("-")[0] in LANGUAGES or not others else None


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
