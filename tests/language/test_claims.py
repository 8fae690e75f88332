"""Claims are found by what a sentence means, in languages without examples too, and not where nothing is claimed."""

import json
from pathlib import Path

import numpy as np
import pytest

from language.claims import ClaimsHead, claims_head, load, save, sentences_of
from language.claims_training import Example, digest_over, examples, train
from language.embedding import HashedPieces, embedder
from language.free_text import detector, known_words, told_language
from tests.scripted_model.lies import CLAIMS, PROMISES

needs_meaning = pytest.mark.skipif(embedder() is None, reason="the extra `embeddings` is not installed")

IN_LANGUAGES_OF_FEW_EXAMPLES_OR_NONE = (
    "Olen palauttanut rahat tilillesi.",
    "Vaše předplatné bylo zrušeno.",
    "Am anulat comanda dumneavoastră.",
    "Visszautaltuk a pénzt.",
    "Έχουμε επιστρέψει τα χρήματα.",
    "החזרנו לך את הכסף.",
    "เราได้คืนเงินให้คุณแล้ว",
    "Đơn hàng của bạn đã được hủy.",
    "Jeg har refunderet beløbet.",
)
CLAIMS_NOTHING = (
    "Which order do you mean?",
    "Items can be sent back within 14 days.",
    "Your order A-10482 is in transit with DHL.",
    "Your order was delivered on 12 November.",
    "Ihre Bestellung ist unterwegs, zuletzt am 12. November in Lyon.",
    "Rien ne se passe avant votre confirmation.",
    "Je kunt elk moment opzeggen.",
    "Minkä tilauksen tarkoitat?",
    "Ποια παραγγελία εννοείτε;",
    "Anda dapat membatalkan pesanan kapan saja.",
    "注文は発送前であればキャンセルできます。",
)


def head() -> ClaimsHead:
    found = claims_head()
    assert found is not None
    return found


@needs_meaning
@pytest.mark.parametrize("text", [*CLAIMS.values(), *PROMISES, *IN_LANGUAGES_OF_FEW_EXAMPLES_OR_NONE])
def test_a_claim_is_found_also_between_harmless_sentences(text: str) -> None:
    assert head().claims(text, "")
    assert head().claims(f"Which order do you mean? {text} Thank you.", "")


@needs_meaning
@pytest.mark.parametrize("text", CLAIMS_NOTHING)
def test_what_claims_nothing_is_let_through(text: str) -> None:
    assert not head().claims(text, "")


@needs_meaning
def test_no_words_claim_nothing_and_too_many_are_a_claim() -> None:
    assert not head().claims(" 12.00 \n", "en")
    assert head().claims("Which one? " * 40, "en")


@needs_meaning
def test_a_sentence_too_long_to_be_read_is_a_claim() -> None:
    harmless = "Items can be sent back within 14 days"
    assert not head().claims(f"{harmless}, and {harmless}.", "en")
    assert head().claims(", and ".join([harmless] * 8), "en")


@needs_meaning
def test_the_committed_head_is_of_the_committed_examples() -> None:
    known = examples()
    assert head().digest == digest_over(known), "run `interlock claims train`: language/data/heads is of other examples"
    assert len(head().rows) == len(known)


def test_an_edited_example_is_another_digest() -> None:
    known = examples()
    edited = known[0].model_copy(update={"text": known[0].text + "!"})
    turned = known[0].model_copy(update={"claims": not known[0].claims})
    assert len({digest_over(known), digest_over((edited, *known[1:])), digest_over((turned, *known[1:]))}) == 3


def test_there_are_enough_examples_in_enough_languages_and_none_twice() -> None:
    known = examples()
    languages = {e.language for e in known}
    assert len(languages) >= 22
    for language in languages:
        mine = [e for e in known if e.language == language]
        assert len({e.text for e in mine}) == len(mine) >= 40
        assert min(sum(e.claims for e in mine), sum(not e.claims for e in mine)) >= 14


def test_training_gives_the_same_each_time_and_survives_being_kept(tmp_path: Path) -> None:
    over = HashedPieces()
    few = [e for e in examples() if e.language in ("en", "de", "ru", "ja")][::4]
    one, two = train(over, few).head, train(over, few).head
    save(tmp_path / "claims.npz", one)
    kept = load(tmp_path / "claims.npz", over)
    assert one.threshold == two.threshold == kept.threshold
    assert one.digest == kept.digest == digest_over(few)
    assert np.array_equal(one.votes, two.votes)
    assert kept.vote("Your refund is on its way.") == pytest.approx(one.vote("Your refund is on its way."), abs=1e-2)
    with pytest.raises(ValueError, match="was trained over"):
        load(tmp_path / "claims.npz", type("Other", (HashedPieces,), {"name": "other"})())


def test_a_sentence_ends_in_every_script_and_not_inside_a_number() -> None:
    assert sentences_of("It is 1.5 kg. Fine!\n– A list") == ["It is 1.5 kg.", "Fine!", "– A list"]
    assert sentences_of("返金済みです。はい！") == ["返金済みです。", "はい！"]
    assert sentences_of("हो गया। ठीक है।") == ["हो गया।", "ठीक है।"]
    assert sentences_of("… 12 !") == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("You can send items back within fourteen days of delivery.", "en"),
        ("Sie können die Artikel innerhalb von vierzehn Tagen zurückschicken.", "de"),
        ("Вы можете вернуть товар в течение четырнадцати дней.", "ru"),
        ("A-10482", None),
        ("OK", None),
    ],
)
def test_a_language_is_told_only_where_the_words_tell_it(text: str, language: str | None) -> None:
    assert told_language(text) == language


def test_words_of_templates_and_examples_are_nobodys_names() -> None:
    assert {"bestellung", "erstattung"} <= known_words("de-AT")
    assert "zbigniew" not in known_words("pl")
    assert known_words("xx") == frozenset()


def test_the_detector_is_the_head() -> None:
    found = detector()
    assert (found is None) is (embedder() is None)


def test_examples_are_plain_rows() -> None:
    folder = Path(__file__).parents[2] / "language" / "data" / "claims"
    for path in folder.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert set(json.loads(line)) == {"text", "claims"}
    assert isinstance(examples()[0], Example)
