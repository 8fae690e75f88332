"""The ledger's words: complete in every language, and never more than the row says."""

import itertools
import re
import string

import pytest

from domain.action import LEGAL_MOVES, ActionState, ApprovalRole, Cause, Payload
from domain.words import NoticeKind, Words
from language.ledger_words import LedgerWords, automated_disclosure, notice, proposal_summary, status_sentence
from language.words import texts
from tests.language.things import CANCELLATION, LANGUAGES, NOW, PAYMENT_REFUND, REFUND, action

S, R = ActionState, ApprovalRole
PAYLOADS: tuple[Payload, ...] = (REFUND, PAYMENT_REFUND, CANCELLATION)
SUCCESS = {
    "en": r"has been made|has been cancelled",
    "es": r"se ha realizado|(?<!no )se ha cancelado",
    "de": r"ist erfolgt|ist jetzt gekündigt",
    "fr": r"a bien été (effectué|résilié)",
    "pt": r"foi realizado|(?<!não )foi cancelada",
    "it": r"(?<!non )è stato (effettuato|disdetto)",
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


@pytest.mark.parametrize(("language", "payload"), list(itertools.product(LANGUAGES, PAYLOADS)))
def test_no_state_but_confirmed_claims_success(language: str, payload: Payload) -> None:
    for state, cause in itertools.product(S, Cause):
        sentence = status_sentence(action(state, cause, payload, external_id="re_1", sent_at=NOW), language)
        claims = bool(re.search(SUCCESS[language], sentence, re.IGNORECASE))
        assert claims is (state is S.CONFIRMED), sentence
        assert "{" not in sentence


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_reachable_state_has_its_own_sentence(language: str) -> None:
    states = {to for _, to in LEGAL_MOVES} | {S.PROPOSED}
    sentences = {status_sentence(action(state, Cause.PROPOSED), language) for state in states}
    assert len(sentences) == len(states)


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
    assert notice(NoticeKind.TAKEN_OVER, "nl") == notice(NoticeKind.TAKEN_OVER, "en")
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
