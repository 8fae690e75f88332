"""Laws of passages: what is cut off a page stands in it word for word, and no word of it is lost but headings."""

import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from language.passages import PASSAGE_CHARS_MAX, sentences, split
from language.quantities import Quantity, denies, numbers, quantities
from language.searchable import ASKED_WORDS_MAX, asked_words, searchable

LINE = st.one_of(
    st.text(st.characters(whitelist_categories=["L", "N", "P"], whitelist_characters=" "), max_size=80),
    st.sampled_from(["", "#", "# Heading", "## Below", "- an item", "1. a step", "It takes 5 days:", "Ende. Neu! Ja?"]),
    st.sampled_from(["A sentence. " * 90, "一文。" * 300, "x" * 900]),
)


def folded(text: str) -> str:
    return " ".join(text.split())


@given(st.lists(LINE, max_size=12).map("\n".join))
def test_every_passage_stands_in_the_body_word_for_word(body: str) -> None:
    for passage in split(body):
        assert passage.text.strip()
        assert folded(passage.text) in folded(body)


@given(st.lists(LINE, max_size=12).map("\n".join))
def test_nothing_but_headings_is_left_out(body: str) -> None:
    kept = "".join(re.sub(r"\s", "", p.text) for p in split(body))
    assert kept == re.sub(r"\s", "", re.sub(r"(?m)^#{1,6}(?:[^\S\n].*)?$", "", body))


def test_an_announcement_does_not_reach_past_a_heading_of_the_same_words() -> None:
    assert [p.text for p in split("# A\n\nYou need:\n\n# A\n\nA box.")] == ["You need:", "A box."]


def test_a_passage_stands_under_its_headings_and_a_colon_goes_with_its_list() -> None:
    found = split("# Returns\n\nYou need:\n\n- the item\n- the box\n\n## Costs\nFree.\n# Else\n\nMore.")
    assert [(p.headings, p.text) for p in found] == [
        (("Returns",), "You need:\n- the item\n- the box"),
        (("Returns", "Costs"), "Free."),
        (("Else",), "More."),
    ]


def test_a_long_paragraph_is_cut_between_sentences_alone() -> None:
    found = split("This is one sentence of a long page. " * 60)
    assert len(found) > 1
    assert all(len(p.text) <= PASSAGE_CHARS_MAX and p.text.endswith("page.") for p in found)
    assert sentences("One. Two!\n\n- three\n- four") == ("One.", "Two!", "- three", "- four")


@given(st.text(max_size=300))
def test_what_is_searched_holds_letters_and_digits_alone(text: str) -> None:
    assert all(word.isalnum() or any(c.isalnum() for c in word) for word in searchable(text).split())
    assert len(asked_words(text * 9).split()) <= ASKED_WORDS_MAX


def test_words_come_with_and_without_accents_and_pairs_where_no_space_parts_words() -> None:
    assert searchable("¿Devolución? ÄNDERN") == "devolución devolucion ändern andern"
    assert searchable("返品したい") == "返品 品し した たい"


def test_quantities_are_read_alike_in_many_languages() -> None:
    month = frozenset({Quantity(value=Decimal(30), unit="days")})
    for text in ("within 30 days", "innerhalb von 30 Tagen", "en treinta días", "sous 30 jours", "30日以内"):
        assert quantities(text) == month, text
    assert quantities("5 to 10 working days") == quantities("de 5 a 10 días laborables")
    assert quantities("two weeks") == quantities("14 Tage")
    assert quantities("up to €2,000.00") == quantities("bis 2.000,00 EUR")
    assert numbers("2 000,50 and 1'000") == {2000.5, 1000}


def test_denials_are_seen_in_many_languages() -> None:
    assert all(map(denies, ("You cannot.", "Das geht nicht.", "No se puede.", "Ce n'est pas possible.", "Não pode.")))
    assert not any(map(denies, ("You can.", "Das geht.", "Se puede.", "C'est possible.", "Pode.")))
