"""The reply gate over every combination of its inputs; None counts as not True."""

import ast
from itertools import product
from pathlib import Path

import pytest

from domain.handoff import HandoffReason
from domain.reply import Checks, Draft, Segment, Source
from policy.reply.gate import DoNotPublish, Publish, Withheld, decide

ROOT = Path(__file__).parents[2]
WORDS = Draft(language="en", segments=(Segment(text="Hello!", source=Source.TEMPLATE, rests_on="greeting"),))
LEDGER = Draft(language="en", segments=(Segment(text="", source=Source.LEDGER, rests_on="op_1"),))
BLANK = Draft(language="en", segments=(Segment(text=" \n", source=Source.TEMPLATE, rests_on="greeting"),))
NOTHING = Draft(language="en", segments=())
ANSWERS = (True, False, None)
CHECKS = [Checks(**dict(zip(Checks.model_fields, c, strict=True))) for c in product(ANSWERS, repeat=4)]
DRAFTS = (WORDS, LEDGER, BLANK, NOTHING, None)


def expected(owner_is_bot: bool, asked: bool, draft: Draft | None, checks: Checks | None) -> Withheld | None:
    if not owner_is_bot:
        return Withheld.NOT_BOT_OWNED
    if asked:
        return Withheld.HANDOFF_REQUESTED
    if draft not in (WORDS, LEDGER):
        return Withheld.GENERATION_FAILED
    return None if checks == CHECKS[0] else Withheld.CHECKS_FAILED


@pytest.mark.parametrize("owner_is_bot", [True, False])
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("draft", DRAFTS, ids=["words", "ledger", "blank", "nothing", "none"])
def test_only_one_combination_is_published(owner_is_bot: bool, asked: bool, draft: Draft | None) -> None:
    for checks in (*CHECKS, None):
        made = decide(owner_is_bot=owner_is_bot, asked_for_person=asked, draft=draft, checks=checks)
        reason = expected(owner_is_bot, asked, draft, checks)
        if reason is None:
            assert isinstance(made, Publish)
            assert made.reply.draft == draft
            assert made.reply.draft_digest == made.reply.draft.digest
        else:
            assert isinstance(made, DoNotPublish)
            assert made.reason is reason


def test_failed_checks_are_named() -> None:
    checks = Checks(supported=True, authorized=None, action_status_truthful=True, privacy=False)
    made = decide(owner_is_bot=True, asked_for_person=False, draft=WORDS, checks=checks)
    assert made == DoNotPublish(reason=Withheld.CHECKS_FAILED, failed=("authorized", "privacy"))


@pytest.mark.parametrize(
    ("withheld", "handoff"),
    [
        (Withheld.NOT_BOT_OWNED, None),
        (Withheld.HANDOFF_REQUESTED, HandoffReason.HANDOFF_REQUESTED),
        (Withheld.GENERATION_FAILED, HandoffReason.GENERATION_FAILED),
        (Withheld.CHECKS_FAILED, HandoffReason.CHECKS_FAILED),
    ],
)
def test_each_reason_hands_off_under_its_own_name(withheld: Withheld, handoff: HandoffReason | None) -> None:
    assert withheld.handoff is handoff


def test_a_checked_reply_is_minted_nowhere_else() -> None:
    rooms = ("activities", "connectors", "gateway", "language", "policy", "store", "workflows")
    minting = {
        str(path.relative_to(ROOT))
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "CheckedReply"
    }
    assert minting == {"policy/reply/gate.py"}
