"""The small language in which the lexicons are written."""

import pytest

from language.patterns import compiled

MACROS = {"thing": ["parcel*", "my order"]}


@pytest.mark.parametrize(
    ("phrase", "line", "found"),
    [
        ("refund*", "please refunded ", True),
        ("refund", "refunded ", False),
        ("money ~2 back", "money right now back ", True),
        ("money ~2 back", "money a b c back ", False),
        ("money ~2 back", "money . back ", False),
        ("(a | b c) d", "b c d ", True),
        ("a b? c", "a c ", True),
        ("a !b", "a b ", False),
        ("a !b", "a c ", True),
        ("where ~1 {thing}", "where are parcels ", True),
        ("^ no", "oh . no ", True),
        ("^ no", "oh no ", False),
        ("human $", "a human . now ", True),
        ("human $", "a human now ", False),
        ("möchte", "moechte ", True),
        ("möchte", "mochte ", True),
    ],
)
def test_a_phrase_finds_what_it_says(phrase: str, line: str, found: bool) -> None:
    assert bool(compiled([phrase], MACROS).search(line)) is found


def test_an_unclosed_bracket_is_refused() -> None:
    with pytest.raises(ValueError, match="unclosed"):
        compiled(["(a | b"], {})
