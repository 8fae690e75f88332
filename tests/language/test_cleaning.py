"""Messages made fit to be read: what is hidden goes, what is meant stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.cleaning import PIECE_CHARS_MAX, PIECES_MAX, cleaned, pieces_of, unmasked


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("r\u0435fund", "refund"),
        ("с\u0430n\u0441el", "cancel"),
        ("re\u200bf\u200dund", "refund"),
        ("\u202eabc\u202c", "abc"),
        ("возврат", "возврат"),  # a word of one script is that script's
        ("A-1\u0430", "A-1\u0430"),
        ("\u0410-51225", "A-51225"),  # a letter alone before the number of an id
        ("می\u200cخواهم", "می\u200cخواهم"),  # there a joiner is spelling
    ],
)
def test_a_word_looks_as_it_was_meant_to(text: str, plain: str) -> None:
    assert unmasked(text) == plain


@pytest.mark.parametrize("blob", ["QUJD" * 40, "deadbeef" * 10, "https://a.example/x?y=1", "someone@mail.example"])
def test_what_is_no_language_is_set_aside(blob: str) -> None:
    assert cleaned(f"see {blob} please") == "see please"


@given(st.text(max_size=2_000))
def test_pieces_are_few_and_short(text: str) -> None:
    pieces = pieces_of(cleaned(text))
    assert len(pieces) <= PIECES_MAX
    assert all(0 < len(piece) <= PIECE_CHARS_MAX for piece in pieces)
