"""The four checks of a draft (design §7): supported, authorized, truthful about actions, private.

Pure; each is True only where it could be established, and what cannot be read as true is not.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from domain.account import Evidence
from domain.action import Action
from domain.knowledge import Article
from domain.reply import Author, Checks, Draft, Segment, Source
from policy.reply.claim_words import LANGUAGES
from policy.reply.claims import truthful
from policy.reply.fact_reading import names_a_day, statuses_stand, unexplained
from policy.reply.facts import facts_of, own_ids
from policy.reply.free_checks import model_authorized, model_private, model_supported
from policy.reply.grounds import ID_LIKE, Grounds, own_words, quotes, without_own
from policy.reply.plain import contains_word, plain
from policy.reply.private_data import holds_private_data, published_contacts
from policy.reply.readers import Readers
from policy.reply.status_words import STATUS, denied

CUSTOMER_AUDIENCES = frozenset({"public", "customer", "customers"})
SIGNED_IN_AUDIENCES = CUSTOMER_AUDIENCES | {"signed_in"}
_DIGIT = re.compile(r"\d")
_MONEY_SIGN = re.compile(r"[€£¥$%]")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
NO_READERS = Readers()


def check(
    draft: Draft,
    *,
    evidence: Evidence | None,
    articles: Sequence[Article],
    actions: Sequence[Action],
    customer_id: str,
    now: datetime,
    readers: Readers = NO_READERS,
) -> Checks:
    """Return the four checks of `draft` against what it cites; of a model's words more is asked than of ours.

    `customer_id` is empty for a visitor who has not signed in. `readers` are heard of a model's words alone.
    """
    cited: dict[str, list[Article]] = {}
    for article in articles:
        cited.setdefault(article.ref, []).append(article)
    grounds = Grounds(
        evidence=evidence,
        articles=cited,
        actions={a.operation_id: a for a in actions},
        customer_id=customer_id,
        now=now,
    )
    by_model = draft.author is Author.MODEL
    published = () if by_model else _published(draft, grounds)
    return Checks(
        supported=model_supported(draft, grounds, readers) if by_model else _ours_supported(draft, grounds),
        authorized=_all([_authorized(s, grounds, by_model=by_model) for s in draft.segments]),
        action_status_truthful=truthful(
            draft, grounds.actions, readers.claims, published, lambda s: _unquoted(s, draft, grounds)
        ),
        privacy=_private(draft, grounds) and (not by_model or model_private(draft, grounds, readers)),
    )


def _unquoted(segment: Segment, draft: Draft, grounds: Grounds) -> str:
    """What of a segment is to be read for claims: where its words are known here, not what is published policy."""
    return own_words(segment, grounds) if draft.language.partition("-")[0] in LANGUAGES else segment.text


def _ours_supported(draft: Draft, grounds: Grounds) -> bool:
    return all(_supported(s, grounds) for s in draft.segments) and _stands_in_evidence(draft, grounds)


def _published(draft: Draft, grounds: Grounds) -> list[str]:
    """The segments that stand in an article that they cite, word for word."""
    quoting = [s for s in draft.segments if s.source is Source.ARTICLE]
    return [s.text for s in quoting if any(quotes(plain(s.text), a) for a in grounds.articles.get(s.rests_on, ()))]


def _all(answers: Sequence[bool | None]) -> bool | None:
    """False where one is False, else None where one is unknown, else True."""
    return False if False in answers else None if None in answers else True


def _supported(segment: Segment, grounds: Grounds) -> bool:
    """Whether what the segment rests on is there and may still be rested on, and holds what it states."""
    text = plain(segment.text)
    match segment.source:
        case Source.EVIDENCE:
            evidence = grounds.evidence
            return evidence is not None and segment.rests_on == evidence.evidence_id and evidence.fresh(grounds.now)
        case Source.ARTICLE:
            return bool(text.strip()) and any(quotes(text, a) for a in grounds.articles.get(segment.rests_on, ()))
        case Source.TEMPLATE:
            return bool(segment.rests_on) and _states_nothing(text)
        case Source.LEDGER:
            return segment.rests_on in grounds.actions


def _stands_in_evidence(draft: Draft, grounds: Grounds) -> bool:
    """Whether every line of the evidence segments states only facts of what it names, or of what was last named."""
    lines = [line for s in draft.segments if s.source is Source.EVIDENCE for line in plain(s.text).splitlines()]
    if not lines or grounds.evidence is None:
        return not lines
    account = grounds.evidence.account
    ids, named = own_ids(account), set[str]()
    for line in lines:
        named = {i.casefold() for i in ids if contains_word(line, i)} or named
        facts = facts_of(account, grounds.now, named)
        left = unexplained(line, facts)
        if _DIGIT.search(left) or not statuses_stand(left, facts, then=names_a_day(line, facts)):
            return False
    return True


def _states_nothing(text: str) -> bool:
    """Whether fixed words hold no number, no sign of money and, outside of questions, no status."""
    if _DIGIT.search(text) or _MONEY_SIGN.search(text):
        return False
    told = [s for s in _SENTENCE.findall(text) if not s.rstrip().endswith("?")]
    return not any(
        not denied(sentence, match.start())
        for sentence in told
        for pattern in STATUS.values()
        for match in pattern.finditer(sentence)
    )


def _authorized(segment: Segment, grounds: Grounds, *, by_model: bool) -> bool | None:
    """Whether every id is the customer's own, an article one that this reader may read, and no link one's own."""
    if by_model and not model_authorized(segment, grounds):
        return False
    if segment.source is Source.ARTICLE:
        cited = grounds.articles.get(segment.rests_on, [])
        meant = [a for a in cited if quotes(plain(segment.text), a)] or cited
        audiences = SIGNED_IN_AUDIENCES if grounds.customer_id else CUSTOMER_AUDIENCES
        readable = all(a.audience in audiences for a in meant) if meant else None
        return readable if not (by_model and readable) else _own_or_cited(segment, grounds)
    if segment.source is Source.LEDGER:
        action = grounds.actions.get(segment.rests_on)
        return action.customer_id == grounds.customer_id if action else None
    return not ID_LIKE.search(without_own(segment, grounds, harmless=by_model))


def _own_or_cited(segment: Segment, grounds: Grounds) -> bool:
    """Whether what looks like an id in a model's words is the customer's own, or stands in the article cited."""
    pages = grounds.pages(segment.rests_on)
    found = ID_LIKE.finditer(without_own(segment, grounds, harmless=True))
    return all(any(contains_word(page, m[0]) for page in pages) for m in found)


def _private(draft: Draft, grounds: Grounds) -> bool:
    """Whether no address and no number of a person or an account stands in it, also across segments."""
    texts = [_without_contacts(s, grounds) for s in draft.segments]
    left = " ".join(without_own(s, grounds, names=False) for s in texts)
    return not any("@" in plain(s.text) for s in texts) and not holds_private_data(left, draft.language)


def _without_contacts(segment: Segment, grounds: Grounds) -> Segment:
    """The segment without the addresses and telephone numbers that the article it cites gives to everybody."""
    if segment.source is not Source.ARTICLE:
        return segment
    contacts = {c for page in grounds.pages(segment.rests_on) for c in published_contacts(page)}
    text = plain(segment.text)
    for contact in sorted(contacts, key=len, reverse=True):
        text = text.replace(contact, " \u2022 ")
    return segment.model_copy(update={"text": text})
