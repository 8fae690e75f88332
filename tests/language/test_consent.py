"""Laws of the plain "yes": a closed list of whole messages, and nothing that says anything beside it."""

import tomllib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.understanding import Intent, TurnContext
from language import consent
from language.consent import is_plain_yes
from language.tongues import RULED
from language.understanding import RulesUnderstander
from policy.turn.next_step import PLAIN_YES_MIN

YESES = tomllib.loads(consent._DATA.read_text(encoding="utf-8"))
ALL = [(language, yes) for language, yeses in YESES.items() for yes in yeses]


def test_every_language_that_the_rules_read_has_its_yes() -> None:
    assert set(YESES) == set(RULED)


@pytest.mark.parametrize(("language", "yes"), ALL)
def test_a_plain_yes_is_also_understood_as_one_surely(language: str, yes: str) -> None:
    for written in (yes, yes.capitalize() + ".", yes.upper() + "!", f"  {yes} \n"):
        assert is_plain_yes(written)
    context = TurnContext(intent=Intent.REFUND_REQUEST, language=language)
    told = RulesUnderstander().understand([yes.capitalize() + "."], context)
    assert (told.intent, told.route, told.corrects, told.suspicious, told.mentions) == (
        Intent.AFFIRMATION, "rules", False, False, (),
    )  # fmt: skip
    assert told.confidence >= PLAIN_YES_MIN


@pytest.mark.parametrize(
    "text",
    [
        "", "yes?", "ok", "sure", "fine", "yes but wait", "yes to the other one", "not yes", "yes no", "yes A-1",
        "> yes", '"yes"', "yes, tomorrow", "yesterday", "oui?", "ja aber", "nein", "no", "👍", "y", "yes and thanks",
        "ye\u200bs", "уеѕ",
    ],
)  # fmt: skip
def test_anything_else_is_no_consent(text: str) -> None:
    assert not is_plain_yes(text)


@given(
    st.sampled_from([yes for _, yes in ALL]),
    st.text(alphabet=st.characters(categories=["L", "N", "S"]), min_size=1),
    st.booleans(),
)
def test_a_yes_with_any_other_word_beside_it_is_no_consent(yes: str, word: str, before: bool) -> None:
    known = {part for _, other in ALL for part in consent._plain(other).split()}
    assume(consent._plain(word) not in known)
    assert not is_plain_yes(f"{word} {yes}" if before else f"{yes} {word}")
