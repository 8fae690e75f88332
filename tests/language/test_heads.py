"""The committed heads: trained from the committed examples, small, and the same whoever reads them."""

import json
from pathlib import Path

import numpy as np
import pytest

from domain.understanding import Intent
from language.embedding import Embedder, HashedPieces, SmallModel, embedder
from language.examples import Example, ExamplesInvalid, digest_over, examples_in
from language.heads import Heads, load, path_of, save
from language.training import CannotTrain, train, vectors_of

SAME_EXAMPLES = "run `interlock understand train`: language/data/heads is of other examples"
HEADS_BYTES_MAX = 1_200_000
EVERY_LANGUAGE = {"en", "es", "de", "fr", "pt", "it", "nl", "pl", "ru", "tr", "ar", "hi", "ja", "ko", "zh", "id"}


def overs() -> list[Embedder]:
    return [over for over in (embedder(), HashedPieces()) if over is not None]


@pytest.mark.parametrize("over", overs(), ids=lambda over: over.name)
def test_kept_heads_are_of_the_examples_as_they_are(over: Embedder) -> None:
    kept = load(path_of(over), over)
    assert kept.digest == digest_over(examples_in()), SAME_EXAMPLES
    assert path_of(over).stat().st_size < HEADS_BYTES_MAX


def test_examples_are_of_many_languages_and_of_every_intent() -> None:
    examples = examples_in()
    assert {example.language for example in examples} >= EVERY_LANGUAGE
    assert {intent for example in examples for intent in example.intents} == set(Intent)
    texts = [(example.text.casefold(), example.language) for example in examples]
    assert len(set(texts)) == len(texts)


def test_no_text_of_an_evaluation_is_an_example() -> None:
    marked = {
        json.loads(line)["text"].casefold()
        for path in (Path(__file__).parents[2] / "evals" / "data").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    }
    assert not marked & {example.text.casefold() for example in examples_in()}


@pytest.mark.parametrize("over", overs(), ids=lambda over: over.name)
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("where is my order", Intent.ORDER_STATUS),
        ("quiero un reembolso", Intent.REFUND_REQUEST),
        ("Passwort vergessen", Intent.ACCOUNT_ACCESS),
        ("merci beaucoup", Intent.THANKS_GREETING),
    ],
)
def test_plain_wishes_are_told(over: Embedder, text: str, intent: Intent) -> None:
    assert load(path_of(over), over).read(text).ranked[0][0] is intent


def test_a_wrong_line_of_examples_is_named(tmp_path: Path) -> None:
    (tmp_path / "xx.jsonl").write_text(
        '{"text": "a", "intents": ["order_status"]}\n{"text": "b", "intents": ["fly"]}\n'
    )
    with pytest.raises(ExamplesInvalid, match=r"xx\.jsonl, line 2: intents"):
        examples_in(tmp_path)


def test_training_again_gives_the_same_heads(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    intents = (Intent.ORDER_STATUS, Intent.OUT_OF_SCOPE, Intent.ASKS_FOR_PERSON)
    said = {Intent.ORDER_STATUS: "parcel", Intent.OUT_OF_SCOPE: "weather", Intent.ASKS_FOR_PERSON: "human"}
    examples = [
        Example(
            text=f"{said[intent]} {n}", intents=(intent,), person=intent is Intent.ASKS_FOR_PERSON, language=f"l{n % 5}"
        )
        for n in range(20)
        for intent in intents
    ]
    over = HashedPieces()
    rows = vectors_of(examples, over, tmp_path / "cache.npz", lambda n: None)
    again = vectors_of(examples, over, tmp_path / "cache.npz", lambda n: None)
    assert np.array_equal(rows, again)
    first, second = train(examples, over, rows, "d"), train(examples, over, again, "d")
    save(tmp_path / "heads.npz", first)
    kept = load(tmp_path / "heads.npz", over)
    told = [heads.read("where is the human") for heads in (first, second, kept)]
    assert told[0] == told[1]
    assert told[2].person == pytest.approx(told[0].person, abs=0.01)
    assert isinstance(kept, Heads)


def test_training_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CannotTrain, match="extra `train`"):
        train([], HashedPieces(), np.zeros((0, 1), dtype=np.float32), "d")


def test_a_vector_has_length_one_or_is_nothing() -> None:
    for over in overs():
        assert np.linalg.norm(over.embed_query("where is my order?")) == pytest.approx(1.0, abs=1e-4)
        assert not over.embed_query("").any()
        assert not over.embed_query("\0 \ud800").any()
        assert over.embed_passages(["a b", "c d"]).shape == (2, over.dimensions)
        assert over.embed_passages([]).shape == (0, over.dimensions)


@pytest.mark.skipif(embedder() is None, reason="the extra `embeddings` is not installed")
def test_near_in_meaning_is_near_across_languages() -> None:
    over = embedder()
    assert isinstance(over, SmallModel)
    asked = over.embed_query("How long do refunds take?")
    near, far = over.embed_passages(["Eine Erstattung dauert fünf Werktage.", "Wir liefern keine Kühlschränke."])
    assert asked @ near > asked @ far
