"""What a turn's messages want, by rules over phrases: the first form of understanding, local and without a model.

It proposes and never decides; what is uncertain has a low confidence, and ids stay the customer's own tokens.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Protocol

from domain.base import Noun
from domain.step import Question
from domain.understanding import Intent, TurnContext, Understanding
from language.clauses import clauses_of
from language.cleaning import unmasked
from language.lexicon import Hit, lexicon
from language.mentions import mentions_of, plans_named
from language.names import names_in
from language.rules import WISHES, Score, belong_together, confidence, held, scores, wished
from language.suspicion import is_suspicious
from language.tokens import ID_TOKEN, own_words, set_apart, tokens_of
from language.tongues import FALLBACK, RULED, identifier, is_frequent, language_of

_TAKEN_UP = (Intent.OUT_OF_SCOPE, Intent.AFFIRMATION, Intent.CORRECTION)  # what may be no more than a name
_VAGUE = 0.5  # below this, an intent may be no more than that either
WEAK = 0.7  # below this, a wish for a person outweighs what the rules say
CLEAR = 0.8  # from here on, a "do not" about something else changes nothing
_LANGUAGE_TOKENS_MAX = 80
_HINT = 0.2  # how much a word of a lexicon tells about the language
READ_CHARS_MAX = 8_000  # of all messages of a turn together
SUSPECTED_MAX = 10  # the latest messages that are looked at for what is aimed at the machine
_FEW = 2  # words that do not tell a language
_SHORT = 8  # tokens of a message that may be no more than a yes or a no
_TALK = ("affirm", "okay", "refuse", "thanks", "greet")
_NOT_DONE = frozenset({"refund", "cancel", "unsubscribe", "change_plan", "change_address"})

_NAMES_A_CHOICE = (Intent.CHANGE_PLAN, Intent.CHANGE_ADDRESS)  # what may name a plan or an address by its words
_TOLD = (Intent.ORDER_STATUS, Intent.ACTION_STATUS)  # what is told, and nothing done
_OF_A_PLAN = (Intent.CANCEL_SUBSCRIPTION, Intent.CORRECTION)  # what may name a subscription by its plan


class Understander(Protocol):
    """Whoever can say what a customer seems to want."""

    def understand(self, texts: Sequence[str], context: TurnContext) -> Understanding:
        """Return what all unanswered messages of a turn, oldest first, come to."""


class Reading(Noun):
    """A turn's words, read: its tokens, the ids in order of occurrence, and the concepts found."""

    language: str
    tokens: tuple[str, ...]
    occurrences: tuple[str, ...]
    hits: tuple[Hit, ...]
    denied: bool
    wants_no_person: bool = False
    ruled_out: frozenset[Intent] = frozenset()  # what is spoken of as done, and not wished for

    def has(self, *concepts: str) -> bool:
        """Whether any of `concepts` was found."""
        return any(h.concept in concepts for h in self.hits)

    @property
    def others(self) -> int:
        """How many words are neither frequent, nor marks, nor part of small talk."""
        size = sum(t not in ".," and not is_frequent(t) and t != ID_TOKEN for t in self.tokens)
        said = {(h.start, h.end) for h in self.hits if h.concept in _TALK}
        return max(0, size - len(said))


class RulesUnderstander:
    """Understands by the lexicons and the table of rules."""

    def __init__(self) -> None:
        for language in RULED:
            lexicon(language)
        identifier()
        is_suspicious("")

    def understand(self, texts: Sequence[str], context: TurnContext) -> Understanding:
        """Return what all unanswered messages of a turn, oldest first, come to."""
        return self.read(texts, context).understanding

    def read(self, texts: Sequence[str], context: TurnContext) -> "ByRules":
        """Return the same with how it was read, so that somebody else may name the intent."""
        text = unmasked("\n".join(latest(texts)))
        reading = _read(text, context)
        intent, sure = _intent(reading, scores(reading.hits, context, reading.occurrences), context)
        return ByRules(texts=tuple(texts), text=text, context=context, reading=reading, intent=intent, sure=sure)


class ByRules(Noun):
    """What the rules make of a turn, and what they read it from."""

    texts: tuple[str, ...]
    text: str
    context: TurnContext
    reading: Reading
    intent: Intent
    sure: float

    @property
    def understanding(self) -> Understanding:
        """The proposal of the rules alone."""
        return self.meaning(self.intent, self.sure)

    @property
    def said(self) -> tuple[Intent, ...]:
        """What its clauses want, each clearly and by itself, in the order of saying; none where one thing is wanted."""
        found = dict.fromkeys(clause.wants for clause in self.clauses if clause.wants)
        return tuple(found) if len(found) > 1 else ()

    @property
    def asks_how(self) -> bool:
        """Whether it asks how something works, and no clause plainly wants something done."""
        if not any(h.concept == "asks_how" for h in self.reading.hits):
            return False
        return not any(clause.wants and clause.wants not in _TOLD and not clause.asks_how for clause in self.clauses)

    @cached_property
    def clauses(self) -> "tuple[Clause, ...]":
        """Its clauses by themselves, where it has several."""
        cut, alone = clauses_of(self.text), TurnContext(language=self.reading.language)
        return tuple(_clause(text, alone) for text in cut) if len(cut) > 1 else ()

    def meaning(self, intent: Intent, sure: float) -> Understanding:
        """Return the proposal where `intent` is what is meant: ids, names and corrections read accordingly."""
        corrects, said = _corrects(self.reading), self.said
        if intent in said and said[0] is not Intent.ACTION_STATUS and not belong_together(intent, said[0]):
            intent = said[0]
        mentions = _standing_mentions(self.reading, corrects=corrects)
        return Understanding(
            intent=intent,
            language=self.reading.language,
            mentions=_with_names(mentions, self.text, intent, sure, self.context)
            or (plans_named("\n".join(self.texts)) if intent in _OF_A_PLAN else ()),
            asks_for_person=self.reading.has("person"),
            corrects=corrects or intent is Intent.CORRECTION,
            suspicious=any(is_suspicious(t) for t in self.texts[-SUSPECTED_MAX:]),
            confidence=sure,
            intents=said,
            seeks_information=self.asks_how,
        )


class Clause(Noun):
    """A clause by itself: what it plainly wants, if anything, and whether it asks how that works."""

    wants: Intent | None
    asks_how: bool


def _clause(text: str, alone: TurnContext) -> Clause:
    """What a clause wants by itself, where the rules are sure of it; what it is not about takes more than a clause."""
    reading = _read(text, alone)
    ranked = scores(reading.hits, alone, reading.occurrences)
    best = ranked[0] if ranked and ranked[0].value >= WEAK and not reading.denied else None
    wants = best.intent if best and best.intent.is_need and best.intent is not Intent.OUT_OF_SCOPE else None
    return Clause(wants=wants, asks_how=reading.has("asks_how"))


def _with_names(
    mentions: tuple[str, ...], text: str, intent: Intent, sure: float, context: TurnContext
) -> tuple[str, ...]:
    """Return the ids, and where a plan or an address may be meant, the words by which it may be named."""
    if intent in _NAMES_A_CHOICE:
        return (*mentions, *names_in(text))
    asked = context.intent in _NAMES_A_CHOICE or context.question == Question.WHICH_SUBSCRIPTION
    if asked and (intent in _TAKEN_UP or sure < _VAGUE):
        return (*mentions, *names_in(text, reply=True))
    return mentions


def latest(texts: Sequence[str]) -> list[str]:
    """Return what the customer wrote, without quotations; of very much the latest messages that can be read."""
    own: list[str] = []
    room = READ_CHARS_MAX
    for text in reversed(texts):
        words = own_words(text)
        if own and len(words) > room:
            break
        own.insert(0, words)
        room -= len(words)
    return own


def _read(text: str, context: TurnContext) -> Reading:
    masked, occurrences = set_apart(text, mentions_of(text))
    tokens = tokens_of(masked)
    language = language_of(text, tokens[:_LANGUAGE_TOKENS_MAX], context.language, _hints(tokens[:_LANGUAGE_TOKENS_MAX]))
    found: tuple[Hit, ...] = ()
    for tongue in _tongues(language, tokens):
        words = lexicon(tongue)
        likely = tongue in (language, FALLBACK)  # a slip is mended only in a language that is likely
        found = words.hits(words.mended(tokens) if likely else tokens)
        if any(h.concept != "mention" for h in found):
            if tongue != FALLBACK and context.language is None:
                language = tongue
            break
    kept = held(found)
    hits = wished(kept)
    if "?" in text or "？" in text or "؟" in text:
        hits = (*hits, Hit(concept="question", start=0, end=0, sentence=0))
    denied = any(h.denied and h.concept in _NOT_DONE for h in found)
    return Reading(
        language=language,
        tokens=tuple(tokens),
        occurrences=occurrences,
        hits=hits,
        denied=denied,
        wants_no_person=any(h.denied and h.concept == "person" for h in found),
        ruled_out=_asked_for(kept) - _asked_for(hits),
    )


def _asked_for(hits: Iterable[Hit]) -> frozenset[Intent]:
    return frozenset(intent for hit in hits for intent in WISHES.get(hit.concept, ()))


def _tongues(language: str, tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the languages to read in, likeliest first: a word or two may be of any, more are of one (or English)."""
    if language not in RULED:
        return (FALLBACK,)
    few = sum(t not in ".," for t in tokens) <= _FEW
    return tuple(dict.fromkeys((language, FALLBACK, *(RULED if few else ()))))


def _hints(tokens: Sequence[str]) -> dict[str, float]:
    knowing = [[tongue for tongue in RULED if lexicon(tongue).knows(t)] for t in tokens if len(t) > 4]
    votes: dict[str, float] = {}
    for tongues in knowing:
        for tongue in tongues:
            votes[tongue] = votes.get(tongue, 0.0) + 2 * _HINT / len(tongues)
    return votes


def _corrects(reading: Reading) -> bool:
    wrong = {h.sentence for h in reading.hits if h.concept == "wrong_item"}
    return any(h.concept == "correct" and h.sentence not in wrong for h in reading.hits)


def _standing_mentions(reading: Reading, *, corrects: bool) -> tuple[str, ...]:
    """Return the ids that the customer stands by: none that is disowned, after a correction those that follow it."""
    ids = sorted((h for h in reading.hits if h.concept == "mention"), key=lambda h: h.start)
    wrong_items = {h.sentence for h in reading.hits if h.concept == "wrong_item"}  # the item is wrong, not its order
    disowned = {h.end for h in reading.hits if h.concept == "disowned" and h.sentence not in wrong_items}
    places = [(h.start, name) for h, name in zip(ids, reading.occurrences, strict=False) if h.end not in disowned]
    turns = sorted((h.start for h in reading.hits if h.concept == "correct"), reverse=True) if corrects else []
    for turn in (*turns, 0):
        names = tuple(dict.fromkeys(name for start, name in places if start >= turn))
        if names:
            return names
    return ()


def _intent(reading: Reading, ranked: tuple[Score, ...], context: TurnContext) -> tuple[Intent, float]:
    best = ranked[0] if ranked else None
    if reading.has("person") and (best is None or best.value < WEAK or best.intent is Intent.OUT_OF_SCOPE):
        return Intent.ASKS_FOR_PERSON, 0.95
    if reading.denied and (best is None or best.value < CLEAR):
        return Intent.REFUSAL, 0.85
    if best is None:
        return _without_rule(reading, context)
    consents = reading.has("affirm", "okay") and len(reading.tokens) <= _SHORT
    if consents and best.intent is context.intent and not reading.occurrences:
        return Intent.AFFIRMATION, 0.85
    if best.intent is Intent.CORRECTION and not (context.intent or context.resource):
        return Intent.CORRECTION, round(best.value - 0.2, 3)
    return best.intent, confidence(ranked)


def _without_rule(reading: Reading, context: TurnContext) -> tuple[Intent, float]:
    """Name a turn that no rule speaks for: a bare id, small talk, or nothing that is understood."""
    if reading.occurrences and reading.others <= 2:
        if context.intent and reading.has("refuse"):
            return Intent.CORRECTION, 0.8
        return (context.intent, 0.82) if context.intent else (Intent.ORDER_STATUS, 0.55)
    if reading.others > 2:
        return Intent.OUT_OF_SCOPE, 0.3
    if sum(t not in ".," for t in reading.tokens) > _SHORT:
        return (Intent.THANKS_GREETING, 0.8) if reading.has("thanks", "greet") else (Intent.OUT_OF_SCOPE, 0.3)
    open_matter = bool(context.intent or context.question)
    if reading.has("refuse"):
        return Intent.REFUSAL, 0.88 if open_matter else 0.6
    if reading.has("affirm") or (reading.has("okay") and not reading.has("thanks", "greet")):
        return Intent.AFFIRMATION, 0.88 if open_matter else 0.6
    if reading.has("thanks", "greet"):
        return Intent.THANKS_GREETING, 0.92
    return Intent.OUT_OF_SCOPE, 0.2
