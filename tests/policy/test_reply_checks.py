"""The four checks as tables: what may be said of the evidence, in six languages, and what may not."""

from datetime import UTC, datetime

import pytest
from babel.dates import format_date, format_datetime
from babel.numbers import format_currency
from hypothesis import given
from hypothesis import strategies as st

from domain.account import Account
from domain.action import ActionState
from domain.knowledge import Article
from domain.reply import Checks, Draft, Segment, Source
from policy.reply.checks import check
from tests.policy import worlds as w

LANGUAGES = ("en", "es", "de", "fr", "pt", "it")
SHIPPED, ENDED = w.shipped_order(), w.subscription("sub_Ab12Cd34", "cancelled")
HALF = w.order("A-10001", captured=3000, refunded=1200)
OWNED = w.account(SHIPPED, HALF, ENDED, w.payment("pay_9fX2", 3000, order_id="A-10001"))
BODY = "Open the sign-in page.\nChoose “Forgot”: it takes 2 minutes."
ARTICLE = Article(slug="sign-in", version=3, language="en", title="Signing in", body=BODY)
INTERNAL = ARTICLE.model_copy(update={"slug": "limits", "audience": "staff"})
DONE = w.action(state=ActionState.CONFIRMED)
FOREIGN = w.action(op="op_9").model_copy(update={"customer_id": "cus_2"})


def segment(text: str, source: Source = Source.EVIDENCE, rests_on: str = "") -> Segment:
    default = {Source.EVIDENCE: "ev_1", Source.ARTICLE: "sign-in@3", Source.TEMPLATE: "thanks", Source.LEDGER: "op_1"}
    return Segment(text=text, source=source, rests_on=rests_on or default[source])


def checks(*segments: Segment, owned: Account | None = OWNED, language: str = "en", age_s: float = 1) -> Checks:
    return check(
        Draft(language=language, segments=segments),
        evidence=w.evidence(owned, age_s) if owned else None,
        articles=[ARTICLE, INTERNAL],
        actions=[DONE, FOREIGN],
        customer_id=w.CUSTOMER,
        now=w.NOW,
    )


def evident(text: str, **more: object) -> Checks:
    return checks(segment(text), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "Order A-10482: shipped, last scan 12 Nov 2026 in Lyon.",
        "Order a-10482 is in transit with Colis 24, tracking code CX123456789012.",
        "Order A-10482: 2 × Mug 0.5 l and Desk lamp, €1,234.90 in all.",
        "Order A-10482 has not been delivered yet.",
        "La commande A-10482 n’est pas encore livrée ; dernier scan le 12 novembre 2026 à 14:05.",
        "La commande A-10482 : 1 234,90 €, en cours d'acheminement, en transit.",
        "Bestellung A-10482 ist unterwegs, zuletzt am 12. November 2026 in Lyon; 1.234,90 €.",
        "Pedido A-10482: enviado; última lectura el 12 de noviembre de 2026.",
        "O pedido A-10482 foi enviado em 9 de novembro de 2026.",
        "L'ordine A-10482 è in transito dal 12 novembre 2026, 14:05.",
        "Order A-10001 was delivered; €12.00 of it has been refunded, 18.00 EUR is left.",
        "Subscription sub_Ab12Cd34 (Team) is cancelled already.",
        "You have 2 open orders: A-10482, shipped; A-10001, delivered.",
        "Seen 2026-11-12, and 12/11/2026, and 11/12/2026, and 2:05 pm.",
    ],
)
def test_what_stands_in_the_evidence_passes_every_check(text: str) -> None:
    assert evident(text).failed == ()


@pytest.mark.parametrize(
    "text",
    [
        "Order A-10482: delivered on 12 Nov 2026.",
        "Order A-10482 was delivered.",
        "Die Bestellung A-10482 wurde zugestellt.",
        "Your order A-10001 is still in transit.",
        "Order A-10001 has not been delivered.",
        "Order A-10482: last scan 13 Nov 2026.",
        "Order A-10482: last scan 12 Nov 2025.",
        "Order A-10482: last scan 12 December.",
        "Order A-10482: last scan at 14:06.",
        "Order A-10482 cost €1,234.91.",
        "Order A-10482 cost $1,234.90.",
        "Order A-10482 cost 234.90 EUR.",
        "Order A-10482 cost €30.00.",  # of the other order
        "Order A-10001 is with tracking code CX123456789013.",
        "Order A-10483 is shipped.",
        "You have 7 orders.",
        "It takes 2 days.",
        "It takes ٣ days.",
        "Subscription sub_Ab12Cd34 is active.",
        "12% off.",
    ],
)
def test_what_does_not_stand_in_the_evidence_is_not_supported(text: str) -> None:
    assert evident(text).supported is False


def test_evidence_must_be_the_one_cited_and_fresh() -> None:
    text = "Order A-10482: shipped."
    assert evident(text).supported is True
    assert evident(text, age_s=61).supported is False
    assert evident(text, owned=None).supported is False
    assert checks(segment(text, rests_on="ev_2")).supported is False


@pytest.mark.parametrize(
    ("text", "rests_on", "supported", "authorized"),
    [
        ("Open the sign-in page.", "sign-in@3", True, True),
        ('Open  the sign-in page. Choose “Forgot”: it takes 2 minutes.', "sign-in@3", True, True),
        ("Open the sign-in page!", "sign-in@3", False, True),
        ("It takes 3 minutes.", "sign-in@3", False, True),
        ("Open the sign-in page.", "sign-in@2", False, None),
        ("Open the sign-in page.", "limits@3", True, False),
        ("", "sign-in@3", False, True),
    ],
)  # fmt: skip
def test_articles_are_quoted_word_for_word_and_only_to_whom_they_are_for(
    text: str, rests_on: str, supported: bool, authorized: bool | None
) -> None:
    made = checks(segment(text, Source.ARTICLE, rests_on))
    assert (made.supported, made.authorized) == (supported, authorized)


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("Thanks for your patience.", True),
        ("Which order has not been delivered?", True),
        ("Was it delivered?", True),
        ("It was delivered.", False),
        ("It arrives in 3 days.", False),
        ("That is free: €.", False),
        ("Ihre Bestellung ist unterwegs.", False),
    ],
)
def test_fixed_words_state_no_fact(text: str, supported: bool) -> None:
    assert checks(segment(text, Source.TEMPLATE)).supported is supported


@pytest.mark.parametrize(
    ("text", "authorized"),
    [
        ("Order A-10482, sub_Ab12Cd34 and pay_9fX2 are yours, CX123456789012 too.", True),
        ("Order A-99999 is not.", False),
        ("pay_0000aaaa", False),
        ("pay_abcdefgh", False),
        ("Order 10483.", False),
        ("It cost €1,234.90 on 12 Nov 2026.", True),
    ],
)
def test_every_id_is_the_customers_own(text: str, authorized: bool) -> None:
    assert evident(text).authorized is authorized
    assert checks(segment("Order A-10482."), owned=None).authorized is False


def test_ledger_sentences_are_left_empty_and_name_an_action_of_this_customer() -> None:
    assert checks(segment("", Source.LEDGER)).failed == ()
    assert checks(segment("It is done.", Source.LEDGER)).action_status_truthful is False
    unknown = checks(segment("", Source.LEDGER, "op_2"))
    assert (unknown.supported, unknown.authorized, unknown.action_status_truthful) == (False, None, False)
    assert checks(segment("", Source.LEDGER, "op_9")).authorized is False


CLAIMS = [
    "I have refunded your order.",
    "I've just cancelled it for you.",
    "We have already issued the refund.",
    "Your refund has been processed.",
    "It has now been credited to you.",
    "Your money is on its way.",
    "We will refund you.",
    "I'll gladly cancel that.",
    "You will receive your refund soon.",
    "It will be refunded.",
    "Your cancellation is being processed.",
    "We are refunding the order now.",
    "All done!",
    "He reembolsado su pedido.",
    "Le hemos devuelto el dinero.",
    "Su pedido ha sido reembolsado.",
    "Vamos a reembolsarle el importe.",
    "Cancelaremos su suscripción.",
    "Se reembolsará el importe.",
    "Recibirá el reembolso pronto.",
    "El reembolso será procesado.",
    "Ich habe Ihnen den Betrag erstattet.",
    "Wir haben Ihr Abo gekündigt.",
    "Der Betrag wurde Ihnen gutgeschrieben.",
    "Wir werden den Betrag erstatten.",
    "Der Betrag wird Ihnen erstattet.",
    "Wir erstatten Ihnen den Betrag.",
    "Sie erhalten Ihr Geld zurück.",
    "J’ai remboursé votre commande.",
    "Nous avons bien annulé votre abonnement.",
    "Votre commande a été remboursée.",
    "Nous allons vous rembourser.",
    "Nous rembourserons votre commande.",
    "Vous serez remboursé.",
    "Reembolsei o seu pedido.",
    "O seu pedido foi reembolsado.",
    "Vamos reembolsar o valor.",
    "Cancelaremos a assinatura.",
    "O valor será estornado.",
    "Ho rimborsato il suo ordine.",
    "Abbiamo annullato l'abbonamento.",
    "L'importo è stato rimborsato.",
    "Le verrà rimborsato l'importo.",
    "Rimborseremo l'importo.",
    "Riceverà il rimborso a breve.",
]


@pytest.mark.parametrize("text", CLAIMS)
@pytest.mark.parametrize("source", [Source.TEMPLATE, Source.ARTICLE])
def test_only_the_ledger_says_that_something_was_or_will_be_done(text: str, source: Source) -> None:
    assert checks(segment(text, source)).action_status_truthful is False


@pytest.mark.parametrize("text", [c for c in CLAIMS if not c.startswith(("Su ped", "Votre", "O seu", "L'importo"))])
def test_evidence_excuses_no_promise_and_no_claim_of_ones_own(text: str) -> None:
    assert evident(text).action_status_truthful is False


@pytest.mark.parametrize("text", CLAIMS)
def test_no_claim_passes_as_evidence_of_an_order_of_which_it_is_not_true(text: str) -> None:
    assert not evident(f"Order A-10482. {text}").all_exactly_true


@pytest.mark.parametrize(
    "text",
    [
        "I can refund it if you confirm with the button.",
        "Nothing has been refunded so far.",
        "It has not been cancelled.",
        "Please confirm, and nothing happens before that.",
        "Ich kann Ihnen den Betrag erstatten, wenn Sie bestätigen.",
        "Es wurde noch nichts erstattet.",
        "Rien n'a été remboursé.",
        "Puedo reembolsarlo si lo confirma.",
        "Posso reembolsar se confirmar.",
        "Posso rimborsare l'ordine se conferma.",
        "Thanks for your patience; a colleague takes over.",
    ],
)
def test_offers_and_denials_are_no_claims(text: str) -> None:
    assert checks(segment(text, Source.TEMPLATE)).action_status_truthful is True


def test_in_a_language_without_known_words_truth_is_not_established() -> None:
    assert checks(segment("Hei!", Source.TEMPLATE), language="fi").action_status_truthful is None
    assert checks(segment("", Source.LEDGER), language="fi").action_status_truthful is True
    assert checks(segment("Olá!", Source.TEMPLATE), language="pt-BR").action_status_truthful is True


@pytest.mark.parametrize(
    "text",
    [
        "Write to jo@example.org.",
        "Write to ｊｏ＠example.org.",
        "Write to jo@exam\u200bple.org.",
        "Call +49 30 901820.",
        "Call 030 / 901 820 17.",
        "Call (555) 010-9999 now or 0044 20 7946 0958.",
        "Card 4242 4242 4242 4242.",
        "Card 4242-4242-4242-4242.",
        "Card ４２４２４２４２４２４２４２４２.",
        "Account DE89 3704 0044 0532 0130 00.",
        "Account de89370400440532013000 there",
        "Account GB82 WEST 1234 5698 7654 32, please.",
    ],
)
@pytest.mark.parametrize("source", [Source.TEMPLATE, Source.ARTICLE, Source.EVIDENCE])
def test_no_address_and_no_number_of_a_person_leaves(text: str, source: Source) -> None:
    assert checks(segment(text, source)).privacy is False


def test_a_number_is_found_across_segments_and_in_the_title_of_an_item() -> None:
    halves = (segment("Card 4242 4242", Source.TEMPLATE), segment("4242 4242", Source.TEMPLATE))
    assert checks(*halves).privacy is False
    titled = w.order(items=({"title": "Card for jo@example.org", "price_minor": 3000},))
    assert evident("Order A-10001: Card for jo@example.org.", owned=w.account(titled)).privacy is False
    engraved = w.order(items=({"title": "Dog tag +49 30 901820", "price_minor": 3000},))
    assert evident("Order A-10001: Dog tag +49 30 901820.", owned=w.account(engraved)).privacy is False


def test_the_customers_own_ids_dates_and_amounts_are_no_telephone_numbers() -> None:
    long = w.account(w.shipped_order().model_copy(update={"id": "303-4417-902175"}))
    text = "Order 303-4417-902175, CX123456789012: €1,234.90 on 2026-11-12 14:05."
    assert evident(text, owned=long).failed == ()


AMOUNTS = st.integers(1, 99_999_999)


@given(st.sampled_from(LANGUAGES), AMOUNTS, AMOUNTS, st.sampled_from(["EUR", "USD", "GBP", "CHF", "JPY"]))
def test_an_amount_is_supported_exactly_when_it_is_the_evidences(
    language: str, paid: int, told: int, currency: str
) -> None:
    owned = w.account(w.order("A-10001", captured=paid, currency=currency))
    scale = 1 if currency == "JPY" else 100

    def said(minor: int) -> bool | None:
        return evident(f"A-10001: {format_currency(minor / scale, currency, locale=language)}.", owned=owned).supported

    assert said(paid) is True
    assert said(told) is (told == paid)


DAYS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(st.sampled_from(LANGUAGES), DAYS, DAYS, st.sampled_from(["short", "medium", "long", "full"]))
def test_a_date_is_supported_exactly_when_it_is_the_evidences(
    language: str, placed: datetime, told: datetime, form: str
) -> None:
    owned = w.account(w.order("A-10001", placed_at=placed))

    def said(at: datetime) -> bool | None:
        return evident(f"A-10001: {format_date(at, form, locale=language)}.", owned=owned).supported

    assert said(placed) is True
    if form != "short" and told.date() != placed.date():
        assert said(told) is False


@given(st.sampled_from(LANGUAGES), DAYS)
def test_a_time_of_day_is_read_as_each_language_writes_it(language: str, placed: datetime) -> None:
    owned = w.account(w.order("A-10001", placed_at=placed))
    text = format_datetime(placed, "medium", locale=language)
    assert evident(f"A-10001: {text}.", owned=owned).supported is True


@given(st.text(max_size=200), st.sampled_from(list(Source)), st.sampled_from(["ev_1", "sign-in@3", "op_1", ""]))
def test_any_text_whatsoever_is_checked_without_an_error(text: str, source: Source, rests_on: str) -> None:
    made = checks(Segment(text=text, source=source, rests_on=rests_on))
    assert made.supported in (True, False)
    assert made.privacy in (True, False)
