"""The words by which a plan or an address may be named: found where a name stands, in every language."""

import pytest

from domain.step import Question
from domain.understanding import Intent, TurnContext
from language.names import NAMES_MAX, names_in
from language.understanding import RulesUnderstander

UNDERSTANDER = RulesUnderstander()
WHICH_ADDRESS = TurnContext(intent=Intent.CHANGE_ADDRESS, question=Question.WHICH_ADDRESS)


def folded(names: tuple[str, ...]) -> set[str]:
    return {name.casefold() for name in names}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Change my plan to Business", "business"),
        ("I want to upgrade to the Pro plan", "pro"),
        ("switch me to pro plus plan", "pro plus"),
        ("Please send order A-10001 to my work address instead", "work"),
        ("deliver it to my parents' house", "parents' house"),
        ('change the delivery address to "summer house" please', "summer house"),
        ("Ich möchte zum Business Tarif wechseln", "business"),
        ("Bitte ändern Sie die Lieferung auf die Büroadresse", "büro"),
        ("Quiero cambiar la dirección de entrega a Oficina", "oficina"),
        ("Changez l'adresse de livraison pour la maison", "maison"),
        ("Gostaria de mudar para o plano Team", "team"),
        ("Vorrei cambiare l'indirizzo: Ufficio", "ufficio"),
    ],
)
def test_a_name_is_found_where_it_stands(text: str, name: str) -> None:
    assert name in folded(names_in(text))


@pytest.mark.parametrize(
    "text", ["It does not work. I want another plan. Team spirit!", "order A-10001, sub_1", "", "?!"]
)
def test_no_name_is_read_into_other_words_or_ids(text: str) -> None:
    names = folded(names_in(text))
    assert not names & {"work", "team", "a", "sub"}
    assert not any(c.isdigit() or c == "_" for name in names for c in name)


def test_of_a_short_reply_every_stretch_may_be_the_name_and_of_a_long_one_only_what_stands_so() -> None:
    assert folded(names_in("summer house", reply=True)) == {"summer", "house", "summer house"}
    assert "weather" not in folded(
        names_in("well, you know what, i think that weather matters most of all", reply=True)
    )


def test_a_very_long_text_names_no_more_than_the_limit() -> None:
    assert (
        len(names_in("to Anna " + " ".join(f"Name{chr(97 + n % 26) * (n % 40 + 1)}" for n in range(2000)))) == NAMES_MAX
    )


@pytest.mark.parametrize(
    ("text", "context", "mentions"),
    [
        ("Office", WHICH_ADDRESS, {"office"}),
        ("Where is my order A-10482?", WHICH_ADDRESS, {"a-10482"}),
        ("Office", TurnContext(), set()),
        ("Please refund order A-10482, send it to the Office", TurnContext(), {"a-10482"}),
    ],
)
def test_names_are_read_only_where_a_plan_or_an_address_may_be_meant(
    text: str, context: TurnContext, mentions: set[str]
) -> None:
    assert folded(UNDERSTANDER.understand([text], context).mentions) == mentions
