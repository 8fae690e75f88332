"""The ledger's words: complete in every language, and never more than the row says."""

import hashlib
import itertools
import re
import string

import pytest

from domain.action import (
    CATALOGUE,
    LEGAL_MOVES,
    ActionKind,
    ActionState,
    ApprovalRole,
    CancelOrderPayload,
    Cause,
    Payload,
)
from domain.catalogue.payload import Label, Money, Thing
from domain.words import NoticeKind, Words
from language.formats import money
from language.ledger_words import LedgerWords, automated_disclosure, notice, proposal_summary, status_sentence
from language.words import texts
from tests.language.things import CANCELLATION, EXCHANGE, LANGUAGES, NOW, PAYLOADS, PAYMENT_REFUND, REFUND, action

S, R = ActionState, ApprovalRole
SUCCESS = {
    "en": r"has been (made|cancelled|completed|started)",
    "es": r"(?<!no )se ha (realizado|cancelado|iniciado)",
    "de": r"ist erfolgt|ist jetzt gekündigt|das wurde (ausgeführt|(im system des shops )?eingeleitet)",
    "fr": r"a bien été (effectué|résilié|lancé)",
    "pt": r"(?<!não )foi (realizado|iniciado|cancelada)",
    "it": r"(?<!non )è stato (effettuato|disdetto|avviato)",
    "nl": r"dit is (uitgevoerd|(in het systeem van de winkel )?in gang gezet)",
    "pl": r"(?<!nie )(wykonano|rozpoczęto)",
    "ru": r"(?<!не )(выполнено|запущено)",
    "tr": r"(tamamlandı|başlatıldı)",
    "zh": r"已(完成|在商店系统中启动|启动)",
    "ja": r"手続きが(完了|開始され)",
}
STARTED_ONLY = {"return_items", "exchange_items", "restore_account_access"}  # parcels or the customer finish it
OF_OLD = {  # everything that was said of refunds and cancellations before there were other kinds
    "en": "b39914ba95558c10",
    "es": "323cab762d6dfbd5",
    "de": "af3bf98489a635b0",
    "fr": "3cbaa5cfcbdcb793",
    "pt": "36666c41ccb01f06",
    "it": "2e90979c8da9b8af",
}
HONEST_ENDS = {
    Cause.SUPERSEDED: "replaced",
    Cause.WITHDRAWN: "withdrawn",
    Cause.EXPIRED: "in time",
    Cause.DECLINED: "declined",
    Cause.DENIED: "rules do not allow",
    Cause.REFUSED: "refused",
    Cause.NEVER_SENT: "never sent",
    Cause.NOT_FOUND: "did not take place",
}


def every_sentence(payload: Payload, language: str) -> list[str]:
    """What can be said of an action of this payload, in a fixed order."""
    asked = ((), (R.CUSTOMER,), (R.MANAGER,), tuple(R))
    rows = [
        action(state, cause, payload, external_id=external_id, sent_at=sent_at)
        for state, cause, external_id, sent_at in itertools.product(S, Cause, (None, "re_1"), (None, NOW))
    ]
    return [
        *(proposal_summary(action(payload=payload, approvals=approvals), language) for approvals in asked),
        *(status_sentence(row, language) for row in rows),
        status_sentence(action(payload=payload, given=(R.CUSTOMER,)), language),
    ]


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_the_same_things_with_the_same_placeholders(language: str) -> None:
    assert set(texts(language)) == set(texts("en"))
    for key, text in texts(language).items():
        assert text.strip() == text != ""
        assert placeholders(text) == placeholders(texts("en")[key]), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_fixed_words_hold_no_digits(language: str) -> None:
    assert not [key for key, text in texts(language).items() if re.search(r"\d", text)]


def test_every_kind_of_action_has_its_words() -> None:
    assert {payload.kind for payload in PAYLOADS} == set(CATALOGUE)
    assert {f"{kind.value}.summary" for kind in CATALOGUE} <= set(texts("en"))


@pytest.mark.parametrize(("language", "payload"), list(itertools.product(LANGUAGES, PAYLOADS)))
def test_everything_that_can_be_said_of_an_action_is_a_whole_sentence(language: str, payload: Payload) -> None:
    for sentence in every_sentence(payload, language):
        assert not re.search(r"[{}]|  |None", sentence), sentence
        assert sentence.endswith((".", "。")), sentence
        assert not sentence[0].islower(), sentence


@pytest.mark.parametrize(("language", "payload"), list(itertools.product(LANGUAGES, PAYLOADS)))
def test_a_proposal_names_the_amount_the_thing_and_the_reason(language: str, payload: Payload) -> None:
    summary = proposal_summary(action(payload=payload), language)
    for told in payload.told().values():
        match told:
            case Money(amount_minor=minor, currency=currency):
                assert money(minor, currency, language) in summary
            case Thing(id=ident):
                assert ident in summary
            case Label(key=key):
                assert texts(language)[key] in summary
            case str():
                assert told in summary


@pytest.mark.parametrize("language", OF_OLD)
def test_what_was_said_of_refunds_and_cancellations_is_still_said_word_for_word(language: str) -> None:
    named = CANCELLATION.model_copy(update={"plan": "Pro 10"})
    told = [s for p in (REFUND, PAYMENT_REFUND, CANCELLATION, named) for s in every_sentence(p, language)]
    assert hashlib.sha256("\n".join(told).encode()).hexdigest()[:16] == OF_OLD[language]


def test_an_exchange_says_which_way_the_difference_goes_and_by_what() -> None:
    cheaper = EXCHANGE.model_copy(update={"difference_minor": -1550})
    even = EXCHANGE.model_copy(update={"difference_minor": 0})
    said = [proposal_summary(action(payload=p), "en").partition("). ")[2] for p in (EXCHANGE, cheaper, even)]
    assert [s.partition(" Nothing happens")[0] for s in said] == [
        "To be paid in addition: €15.50. To be given back: nothing. Paid with, or given back to: Visa 4242.",
        "To be paid in addition: nothing. To be given back: €15.50. Paid with, or given back to: Visa 4242.",
        "To be paid in addition: nothing. To be given back: nothing. Paid with, or given back to: Visa 4242.",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_return_says_where_the_money_goes(language: str) -> None:
    to_card, as_paid = (p for p in PAYLOADS if p.kind is ActionKind.RETURN_ITEMS)
    assert "Gift card" in proposal_summary(action(payload=to_card), language)
    assert texts(language)["return_items.original"] in proposal_summary(action(payload=as_paid), language)


def test_an_order_that_nothing_was_paid_for_is_cancelled_without_a_promise_of_money() -> None:
    free = CancelOrderPayload(order_id="A-1", reason="no_longer_needed", customer_id="cus_1", resource_version=1)
    assert "To be given back: nothing." in proposal_summary(action(payload=free), "en")


def test_what_has_only_begun_is_not_called_completed() -> None:
    for payload in PAYLOADS:
        confirmed = status_sentence(action(S.CONFIRMED, Cause.SUCCEEDED, payload), "en")
        assert ("started" in confirmed) is (payload.kind.value in STARTED_ONLY), confirmed


def test_a_name_from_outside_stays_on_one_line_and_fills_no_placeholder() -> None:
    odd = CANCELLATION.model_copy(update={"plan": "Pro\n\n{who} {amount}"})
    assert proposal_summary(action(payload=odd), "en").startswith("Cancel subscription Pro {who} {amount} (sub_71kq).")


@pytest.mark.parametrize(("language", "payload"), list(itertools.product(LANGUAGES, PAYLOADS)))
def test_no_state_but_confirmed_claims_success(language: str, payload: Payload) -> None:
    for state, cause in itertools.product(S, Cause):
        sentence = status_sentence(action(state, cause, payload, external_id="re_1", sent_at=NOW), language)
        claims = bool(re.search(SUCCESS[language], sentence, re.IGNORECASE))
        assert claims is (state is S.CONFIRMED), sentence
        assert ("re_1" in sentence) is (state is S.CONFIRMED), sentence


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_confirmed_refund_names_amount_order_and_reference(language: str) -> None:
    sentence = status_sentence(action(S.CONFIRMED, Cause.SUCCEEDED, external_id="re_77"), language)
    assert all(part in sentence for part in ("23", "€", "A-20418", "re_77"))


@pytest.mark.parametrize(("cause", "words"), list(HONEST_ENDS.items()))
def test_a_rejection_says_why(cause: Cause, words: str) -> None:
    for payload in PAYLOADS:
        assert words in status_sentence(action(S.REJECTED, cause, payload), "en")


def test_an_unknown_outcome_is_told_as_unknown() -> None:
    sentence = status_sentence(action(S.UNKNOWN, Cause.RESPONSE_LOST), "en")
    assert "do not know yet whether" in sentence
    assert "it will not be made twice" in sentence


def test_what_is_not_sent_is_not_called_sent() -> None:
    assert "has been sent" not in status_sentence(action(S.SUBMITTED, Cause.RESERVED), "en")
    assert "has been sent" in status_sentence(action(S.SUBMITTED, Cause.RESERVED, sent_at=NOW), "en")


@pytest.mark.parametrize(("language", "payload"), list(itertools.product(LANGUAGES, PAYLOADS)))
def test_each_reachable_state_and_each_end_has_its_own_sentence(language: str, payload: Payload) -> None:
    states = {to for _, to in LEGAL_MOVES} | {S.PROPOSED}
    rows = [action(state, Cause.PROPOSED, payload) for state in states]
    rows += [action(S.REJECTED, cause, payload) for cause in HONEST_ENDS]
    rows += [action(S.CONFIRMED, Cause.FOUND, payload), action(S.SUBMITTED, Cause.RESERVED, payload, sent_at=NOW)]
    assert len({status_sentence(row, language) for row in rows}) == len(rows)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("approvals", [(), (R.CUSTOMER,), (R.MANAGER,), (R.CUSTOMER, R.MANAGER), tuple(R)])
def test_a_proposal_says_what_and_by_whose_consent(language: str, approvals: tuple[ApprovalRole, ...]) -> None:
    summary = proposal_summary(action(approvals=approvals), language)
    assert "A-20418" in summary
    assert "23" in summary


def test_a_proposal_says_that_nothing_happens_before_consent() -> None:
    assert proposal_summary(action(), "en") == "Refund €23.00 on order A-20418. Nothing happens until you confirm."
    both = proposal_summary(action(approvals=(R.CUSTOMER, R.MANAGER)), "en")
    assert both.endswith("Nothing happens until you confirm and a manager agrees as well.")
    assert proposal_summary(action(payload=CANCELLATION), "en").startswith("Cancel subscription sub_71kq.")


def test_every_notice_differs_and_a_foreign_language_is_answered_in_english() -> None:
    for language in LANGUAGES:
        assert len({notice(kind, language) for kind in NoticeKind}) == len(NoticeKind)
    assert notice(NoticeKind.TAKEN_OVER, "sv") == notice(NoticeKind.TAKEN_OVER, "en")
    assert notice(NoticeKind.TAKEN_OVER, "pt-BR") == notice(NoticeKind.TAKEN_OVER, "pt")


def test_the_first_words_say_that_they_are_automated() -> None:
    assert "automated assistant" in automated_disclosure("en")
    assert len({automated_disclosure(language) for language in LANGUAGES}) == len(LANGUAGES)


def test_the_ledger_speaks_the_language_of_its_row() -> None:
    words: Words = LedgerWords()
    assert words.status(action(language="de")).startswith("Die Erstattung")
    assert words.proposal(action(language="fr")).startswith("Rembourser")
    assert words.notice(NoticeKind.REOPENED, "it") == notice(NoticeKind.REOPENED, "it")
    assert words.disclosure("es") == automated_disclosure("es")
