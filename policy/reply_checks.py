"""The four checks of a draft (design §7): supported, authorized, truthful about actions, private.

Pure; each is True only where it could be established, and what cannot be read as true is not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from domain.account import Evidence
from domain.action import Action
from domain.knowledge import Article
from domain.reply import Checks, Draft, Segment, Source
from policy.claims import truthful
from policy.fact_reading import names_a_day, statuses_stand, unexplained
from policy.plain import contains_word, plain
from policy.private_data import holds_private_data
from policy.reply_facts import facts_of, own_ids
from policy.status_words import STATUS, denied

CUSTOMER_AUDIENCES = frozenset({"public", "customer", "customers"})
_DIGIT = re.compile(r"\d")
_ID_LIKE = re.compile(
    r"(?<![\w-])(?=[\w-]*\d)(?:\d{5,}|(?=[\w-]*[^\W\d])[\w-]{4,}|\d[\d-]{4,}\d)(?![\w-])|(?<!\w)[a-z]+_\w{6,}"
)
_MONEY_SIGN = re.compile(r"[€£¥$%]")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True)
class Grounds:
    """Everything that a draft may rest on."""

    evidence: Evidence | None
    articles: dict[str, list[Article]]  # by `slug@version`: one for each language
    actions: dict[str, Action]
    customer_id: str
    now: datetime


def check(
    draft: Draft,
    *,
    evidence: Evidence | None,
    articles: Sequence[Article],
    actions: Sequence[Action],
    customer_id: str,
    now: datetime,
) -> Checks:
    """Return the four checks of `draft` against what it cites."""
    cited = {
        f"{a.slug}@{a.version}": [b for b in articles if (b.slug, b.version) == (a.slug, a.version)] for a in articles
    }
    grounds = Grounds(
        evidence=evidence,
        articles=cited,
        actions={a.operation_id: a for a in actions},
        customer_id=customer_id,
        now=now,
    )
    return Checks(
        supported=all(_supported(s, grounds) for s in draft.segments) and _stands_in_evidence(draft, grounds),
        authorized=_all([_authorized(s, grounds) for s in draft.segments]),
        action_status_truthful=truthful(draft, grounds.actions),
        privacy=_private(draft, grounds),
    )


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
            return bool(text.strip()) and any(_quotes(text, a) for a in grounds.articles.get(segment.rests_on, ()))
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


def _quotes(text: str, article: Article) -> bool:
    """Whether the text is taken from the article word for word, spacing aside."""
    return " ".join(text.split()) in " ".join(plain(f"{article.title}\n{article.body}").split())


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


def _authorized(segment: Segment, grounds: Grounds) -> bool | None:
    """Whether every id is the customer's own, and an article one that customers may read."""
    if segment.source is Source.ARTICLE:
        cited = grounds.articles.get(segment.rests_on, [])
        meant = [a for a in cited if _quotes(plain(segment.text), a)] or cited
        return all(a.audience in CUSTOMER_AUDIENCES for a in meant) if meant else None
    if segment.source is Source.LEDGER:
        action = grounds.actions.get(segment.rests_on)
        return action.customer_id == grounds.customer_id if action else None
    return not _ID_LIKE.search(_without_own(segment, grounds))


def _private(draft: Draft, grounds: Grounds) -> bool:
    """Whether no address and no number of a person or an account stands in it, also across segments."""
    raw = plain(draft.text)
    left = " ".join(_without_own(s, grounds, names=False) for s in draft.segments)
    return "@" not in raw and not holds_private_data(left)


def _without_own(segment: Segment, grounds: Grounds, *, names: bool = True) -> str:
    """The segment's text without the customer's own ids and facts; of these, titles and places only with `names`."""
    text = plain(segment.text)
    if grounds.evidence is None:
        return text
    facts = facts_of(grounds.evidence.account, grounds.now)
    return unexplained(text, facts if names else replace(facts, names=frozenset()))
