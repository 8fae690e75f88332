"""Laws of reading sparingly: whatever a customer writes costs little, and slow texts starve nobody."""

import random
import threading
import time
from collections.abc import Sequence

import pytest

from domain.understanding import Intent, TurnContext
from language.embedding import Embedder, Matrix, SmallModel, Vector, embedder, sparingly
from language.entities import entities_in
from language.heads import Heads, best_heads
from language.routing import LocalUnderstander
from language.searchable import ASKED_CHARS_MAX, question_in
from language.turnstile import Busy, Turnstile

with_model = pytest.mark.skipif(embedder() is None, reason="the extra `embeddings` is not installed")
CHOSEN = random.Random(7)
HEAVY = {
    "commas": "a," * 4000,
    "capitals": "A-" * 4000,
    "letters": "a " * 4000,
    "addresses": "a@" * 4000,
    "chinese": "我要退款因为东西坏了" * 800,
    "arabic": "أريد استرداد أموالي من فضلك " * 290,
    "emoji": "😀🎉" * 4000,
    "blobs": "".join(CHOSEN.choice("ABCDabcd0189+/\n") for _ in range(8000)),
    "any letters": "".join(chr(CHOSEN.randrange(0x4E00, 0x9FFF)) for _ in range(8000)),
}
TOKENS_MAX = 220  # of a whole turn


class Counting(SmallModel):
    """The model, counting the tokens that it is made to read."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = 0

    def _embedded(self, readable: str, *, asked: bool) -> Vector:
        self.tokens += self._model.token_count(readable, asked) if readable else 0
        return super()._embedded(readable, asked=asked)


class Taken:
    """A model that others keep busy."""

    name, dimensions = "taken", 384

    def embed_query(self, text: str) -> Vector:
        raise Busy

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        raise Busy


def heads_over(over: Embedder) -> Heads:
    best = best_heads()
    return Heads(over, best.networks, best.thresholds, best.digest, best.measured)


@with_model
@pytest.mark.parametrize("text", HEAVY.values(), ids=HEAVY.keys())
def test_no_text_costs_more_than_a_few_sentences(text: str) -> None:
    counting = Counting()
    LocalUnderstander(heads_over(counting)).understand((text,), TurnContext())
    assert counting.tokens <= TOKENS_MAX
    counting.tokens = 0
    with sparingly(wait_s=9.0):
        counting.embed_query(question_in(text))
    assert counting.tokens <= TOKENS_MAX


@with_model
def test_a_message_of_ordinary_length_is_read_whole() -> None:
    said = "Hello there, I ordered a lamp for my grandmother two weeks ago and it came with a crack in the glass."
    over = embedder()
    assert over is not None
    with sparingly(wait_s=9.0, share=2):
        spared = over.embed_query(said)
    assert (spared == over.embed_query(said)).all()


def test_a_model_that_others_keep_busy_is_not_waited_for() -> None:
    told = LocalUnderstander(heads_over(Taken())).understand(("Where is my order, please? I wait.",), TurnContext())
    assert told.intent is Intent.ORDER_STATUS


def test_whoever_has_many_texts_lets_others_in_between() -> None:
    turnstile, order = Turnstile(), list[str]()
    entered = threading.Event()

    def many() -> None:
        for _ in range(5):
            with turnstile.through(None):
                order.append("many")
                entered.set()
                time.sleep(0.02)

    greedy = threading.Thread(target=many)
    greedy.start()
    entered.wait()
    with turnstile.through(None):
        order.append("one")
    greedy.join()
    assert order.index("one") <= 2


def test_who_waits_in_vain_leaves_the_queue_as_it_was() -> None:
    turnstile = Turnstile()
    with turnstile.through(None), pytest.raises(Busy), turnstile.through(0.01):
        pass
    with turnstile.through(0.01):
        pass


def test_a_search_takes_the_beginning_without_what_is_no_language() -> None:
    asked = question_in("How long\u200b do refunds take? " + "QUJD" * 30 + " " + "more words " * 900)
    assert asked.startswith("How long do refunds take? more words")
    assert len(asked) <= ASKED_CHARS_MAX


def test_a_street_is_found_among_many_hyphens() -> None:
    found = entities_in("A-" * 900 + " Lange Hauptstraße 12", (), "de")
    assert "Lange Hauptstraße 12" in [e.value for e in found]
