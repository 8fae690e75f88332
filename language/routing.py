"""Local understanding by cost: rules where they are certain, the heads for the rest, both where they may disagree.

A proposal like any other. What the heads add is never a consent: their route is `classifier`, and ids stay tokens.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from domain.base import Noun
from domain.understanding import Intent, TurnContext, Understanding
from language.cleaning import PIECE_CHARS_MAX, cleaned, pieces_of
from language.embedding import HashedPieces, sparingly
from language.entities import entities_in
from language.heads import Heads, Signals, best_heads, load, path_of
from language.mentions import ids_alike
from language.risk import is_urgent, risks_in
from language.tongues import RULED
from language.turnstile import Busy
from language.understanding import WEAK, ByRules, RulesUnderstander

RULES, CLASSIFIER = "rules", "classifier"

_CHATTER: Final = (Intent.THANKS_GREETING, Intent.AFFIRMATION, Intent.REFUSAL)
_NO_REQUEST: Final = frozenset({*_CHATTER, Intent.CORRECTION, Intent.OUT_OF_SCOPE, Intent.ASKS_FOR_PERSON})
_OF_AN_ORDER: Final = (Intent.DAMAGED_ITEM, Intent.MISSING_ITEM)
_SUBJECTS: Final = (
    Intent.ORDER_STATUS,
    Intent.REFUND_REQUEST,
    Intent.CANCEL_ORDER,
    Intent.CANCEL_SUBSCRIPTION,
    Intent.CHANGE_PLAN,
    Intent.CHANGE_ADDRESS,
)
_CERTAIN = 0.85  # rules this sure of a message that holds little else are not asked again
_LITTLE_ELSE = 2  # words that the rules have no part in
_RULES_WEIGH, _FOREIGN_RULES_WEIGH = 0.45, 0.25  # beside a head's probability; in other languages only English is read
_RULES_WEIGH_IN_CONTEXT = 1.0  # the heads know nothing of what was said before
_LEAST_SURE = 0.6
_CALLED_OUTSIDE = 0.84  # rules that say so of a thing by its name
_RULES_OUTSIDE_WEIGH = 0.3  # "the invoice lists six, I count five" is about what is missing
_CHATTER_SURE = 0.4  # small talk that the heads are less sure of is not understood: "so what now, anything at all"
_DENIED = 0.1  # a wish for a person that the rules read and the heads find as unlikely is none
_OUTSIDE_LEADS = 0.2  # what rules add to an intent counts only in part against out of scope
_SURE = 0.85
_PIECE_CHARS_MIN = 12
_PIECE_ASKS = 0.9  # one sentence alone must ask for a person more clearly than the whole
_PIECE_WANTS = 0.75
_BESIDE_A_PERSON = 0.5  # so clear is a wish that is told before the one for a person
_LIKELIEST_WISH = 0.3  # of what is otherwise not understood
_REPLY_WORDS_MAX = 4
_SMALL_TALK_WORDS_MAX = 3  # "hello??? is anybody alive" is more
_WAIT_S = 0.5  # for the model of the embeddings, where others are before


class Heard(Noun):
    """What the heads say of a turn: of the whole, and of its sentences where it has several."""

    whole: Signals
    pieces: tuple[Signals, ...] = ()


class LocalUnderstander:
    """Understands on this machine alone, without a model that could be asked anything."""

    def __init__(self, heads: Heads | None = None) -> None:
        self._rules = RulesUnderstander()
        self._heads = heads or best_heads()

    def understand(self, texts: Sequence[str], context: TurnContext) -> Understanding:
        """Return what all unanswered messages of a turn, oldest first, come to.

        Where others keep the model of the embeddings for too long, by the heads that need none.
        """
        try:
            with sparingly(_WAIT_S, share=2):  # half of it for the whole, the rest for its sentences
                return self._understood(texts, context)
        except Busy:
            return _by_spelling().understand(texts, context)

    def _understood(self, texts: Sequence[str], context: TurnContext) -> Understanding:
        ruled = self._rules.read(texts, context)
        words = cleaned(ids_alike(ruled.text))
        heard = None if _certain(ruled) or not any(c.isalpha() for c in words) else self.hear(words)
        told = ruled.understanding if heard is None else self._weighed(ruled, heard)
        return told.model_copy(
            update={
                "entities": entities_in(ruled.text, told.mentions, told.language),
                "urgent": told.urgent or is_urgent(ruled.text),
                "risks": risks_in(ruled.text),
            }
        )

    def subject(self, text: str) -> Intent:
        """Return what a question after an action is about, of the actions and the order that there may be."""
        told = self._heads.read(cleaned(text)).intents
        return max(_SUBJECTS, key=lambda intent: told[intent])

    def hear(self, words: str) -> Heard:
        """Return what the heads say of cleaned `words`; of very many, of what is said in their parts."""
        pieces = pieces_of(words)
        if len(words) <= PIECE_CHARS_MAX:
            parts = [p for p in pieces if len(p) >= _PIECE_CHARS_MIN] if len(pieces) > 1 else []
            return Heard(whole=self._heads.read(words), pieces=tuple(map(self._heads.read, parts)))
        signals = tuple(map(self._heads.read, pieces or (words[:PIECE_CHARS_MAX],)))
        return Heard(whole=_together(signals), pieces=signals)

    def _weighed(self, ruled: ByRules, heard: Heard) -> Understanding:
        """Rules and heads together; a short reply to a question stays with the rules, which know the question."""
        asks = self._asks(ruled, heard)
        intent, sure, route = self._intent(ruled, heard, asks=asks)
        if intent is Intent.OUT_OF_SCOPE and _wish(heard) >= _LIKELIEST_WISH:  # a person gets it: maybe as asked
            asks, intent, sure = True, Intent.ASKS_FOR_PERSON, _SURE
        told = ruled.meaning(intent, sure)
        return told.model_copy(
            update={
                "asks_for_person": asks,
                "route": route,
                "intents": self._every(told, ruled, heard, asks=asks),
                "seeks_information": told.seeks_information
                or heard.whole.information >= self._heads.thresholds.information,
                "urgent": heard.whole.urgent >= self._heads.thresholds.urgent,
            }
        )

    def _asks(self, ruled: ByRules, heard: Heard) -> bool:
        if ruled.reading.wants_no_person and not ruled.reading.has("person"):
            return False
        if any(p.person >= _PIECE_ASKS for p in heard.pieces):
            return True
        wish = max((_wish(heard), *(p.person for p in heard.pieces))) if ruled.reading.has("person") else _wish(heard)
        return wish >= (_DENIED if ruled.reading.has("person") else self._heads.thresholds.person)

    def _intent(self, ruled: ByRules, heard: Heard, *, asks: bool) -> tuple[Intent, float, str]:
        thresholds = self._heads.thresholds
        if _is_reply(ruled) and heard.whole.ranked[0][0] not in (*_CHATTER, Intent.ASKS_FOR_PERSON):
            return ruled.intent, ruled.sure, RULES
        score = {i: p for i, p in heard.whole.intents.items() if i not in ruled.reading.ruled_out}
        called = ruled.intent is Intent.OUT_OF_SCOPE and ruled.sure >= _CALLED_OUTSIDE
        outside = score.pop(Intent.OUT_OF_SCOPE) + (_RULES_OUTSIDE_WEIGH if called else 0.0)
        if ruled.intent is not Intent.OUT_OF_SCOPE and ruled.sure >= _LEAST_SURE:
            score[ruled.intent] = score.get(ruled.intent, 0.0) + _weight_of(ruled)
        score.pop(Intent.ASKS_FOR_PERSON, None)
        best = max(score, key=lambda intent: score[intent])
        if asks and (best in _CHATTER or score[best] < _BESIDE_A_PERSON):
            if _says_a_need(ruled):
                return ruled.intent, ruled.sure, RULES
            if beside := _clear_requests(heard):
                return beside[0], _SURE, CLASSIFIER
            route = RULES if ruled.intent is Intent.ASKS_FOR_PERSON else CLASSIFIER
            return Intent.ASKS_FOR_PERSON, max(heard.whole.person, _SURE), route
        if best is Intent.ACTION_STATUS and _says_a_need(ruled):
            best = ruled.intent  # what is to be done comes before how another thing stands
        route = RULES if best is ruled.intent and ruled.sure >= _LEAST_SURE else CLASSIFIER
        if outside >= max(thresholds.outside, score[best] - _OUTSIDE_LEADS):
            return Intent.OUT_OF_SCOPE, min(outside, 1.0), RULES if called else CLASSIFIER
        if score[best] < (_CHATTER_SURE if best in _CHATTER else thresholds.within):
            return Intent.OUT_OF_SCOPE, min(score[best], 0.4), CLASSIFIER
        return best, ruled.sure if route is RULES else min(0.97, max(0.6, score[best])), route

    def _every(self, told: Understanding, ruled: ByRules, heard: Heard, *, asks: bool) -> tuple[Intent, ...]:
        """All intents, in the order of saying: what a clause is about, and what the whole shows clearly."""
        found = {i for i, p in heard.whole.intents.items() if p >= self._heads.thresholds.beside}
        said = (*told.intents, *_clear_requests(heard), *sorted(found, key=lambda i: -heard.whole.intents[i]))
        first, no_request = told.intent, _NO_REQUEST | ruled.reading.ruled_out
        requests = [i for i in said if i not in no_request]
        if first not in requests:
            requests.insert(0, first)
        if asks and Intent.ASKS_FOR_PERSON not in requests:
            requests.append(Intent.ASKS_FOR_PERSON)
        return tuple(dict.fromkeys(requests))


@cache
def _by_spelling() -> LocalUnderstander:
    over = HashedPieces()
    return LocalUnderstander(load(path_of(over), over))


def _says_a_need(ruled: ByRules) -> bool:
    clear = ruled.sure >= WEAK and ruled.reading.language in RULED
    return clear and ruled.intent not in _NO_REQUEST and ruled.intent is not Intent.ACTION_STATUS


def _clear_requests(heard: Heard) -> tuple[Intent, ...]:
    """What single sentences clearly want, in the order of saying."""
    ranked = (piece.ranked[0] for piece in heard.pieces)
    return tuple(intent for intent, p in ranked if p >= _PIECE_WANTS and intent not in _NO_REQUEST)


def _weight_of(ruled: ByRules) -> float:
    if ruled.reading.language not in RULED:
        return _FOREIGN_RULES_WEIGH * ruled.sure
    if ruled.context.intent or ruled.context.resource:
        return _RULES_WEIGH_IN_CONTEXT
    return _RULES_WEIGH * ruled.sure


def _wish(heard: Heard) -> float:
    return max(heard.whole.person, heard.whole.intents[Intent.ASKS_FOR_PERSON])


def _certain(ruled: ByRules) -> bool:
    """Whether the rules know nearly every word of a message in a language that they read, and what it comes to.

    What is lost or broken may be a bank card, where no order is named.
    """
    if ruled.reading.language not in RULED:
        return False
    if ruled.intent is Intent.ACTION_STATUS and ruled.context.intent is None:
        return False  # "all settled, thanks": nothing is open that it could be about
    short = len(ruled.text.split()) <= _SMALL_TALK_WORDS_MAX
    if ruled.reading.others == 0 and ruled.intent is not Intent.OUT_OF_SCOPE:
        return short or ruled.intent not in _CHATTER  # small talk, a yes, a bare id
    if ruled.intent in _CHATTER and ruled.context.question is None:
        return (
            False  # "I don't want it any more, don't send it" declines nothing; "hello, anybody alive?" is no greeting
        )
    if ruled.intent in _OF_AN_ORDER and not (ruled.reading.has("order") or ruled.reading.occurrences):
        return False
    return ruled.sure >= _CERTAIN and ruled.reading.others <= _LITTLE_ELSE


def _is_reply(ruled: ByRules) -> bool:
    """Whether this may be no more than the short answer to what was asked."""
    return ruled.context.question is not None and len(ruled.text.split()) <= _REPLY_WORDS_MAX


def _together(signals: Sequence[Signals]) -> Signals:
    """Many parts as one: a wish counts as its clearest part, out of scope only as much as nothing else is said."""
    intents = {intent: max(s.intents[intent] for s in signals) for intent in signals[0].intents}
    wish = max(p for intent, p in intents.items() if intent not in _NO_REQUEST)
    intents[Intent.OUT_OF_SCOPE] = min(intents[Intent.OUT_OF_SCOPE], max(1.0 - wish, 0.0))
    chatter = {intent: min(intents[intent], 1.0 - wish) for intent in _CHATTER}
    return Signals(
        intents=intents | chatter,
        person=max(s.person for s in signals),
        information=max(s.information for s in signals),
        urgent=max(s.urgent for s in signals),
    )
