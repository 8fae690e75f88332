"""The permission service: who may use which tool under the base, and what a tenant's layer may change about it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.action import ActionKind
from domain.permission import Tool, ToolQuestion, ToolRole
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from policy.permissions import Permissions, tool_request

BASE = Bundle.load()
PERMISSIONS = Permissions(PolicyEngine(BASE))
STAGES = ("off", "shadow", "draft_only", "approval_required", "automatic")
STAFF = {
    "read_conversations", "read_queue", "ask_for_person", "take_over", "release", "reply", "review_draft",
    "read_policy",
}  # fmt: skip
ACTS = {"read_account", "propose"}
ALLOWED: dict[str, set[str]] = {
    "customer": {"write_message", "ask_for_person", "read_own", "confirm_own"},
    "anonymous": {"write_message", "ask_for_person", "read_own"},
    "service": {"read_conversations"},
    "agent": STAFF | ACTS,
    "manager": STAFF | ACTS | {
        "approve_as_manager", "approve_in_batch", "settle_unknown", "stop_dispatch", "publish_policy", "read_audit",
    },
    "finance": STAFF | ACTS | {
        "approve_as_manager", "approve_as_finance", "approve_in_batch", "settle_unknown", "stop_dispatch",
        "resume_dispatch", "read_audit",
    },
    "trust_and_safety": STAFF | ACTS | {"stop_dispatch", "read_audit"},
    "admin": STAFF | {
        "approve_as_manager", "settle_unknown", "stop_dispatch", "resume_dispatch", "publish_policy", "read_audit",
        "manage_staff",
    },
}  # fmt: skip
BOT = {
    "off": set(),
    "shadow": {"read_account"},
    "draft_only": {"read_account", "draft"},
    "approval_required": {"read_account", "draft", "answer", "propose"},
    "automatic": {"read_account", "draft", "answer", "propose"},
}
WHERE = {"tenant_id": "lumen", "tenant_kind": "marketplace", "stage": "approval_required"}


def asked(role: str = "agent", tool: str = "propose", **more: Any) -> ToolQuestion:
    return ToolQuestion(role=ToolRole(role), tool=Tool(tool), **{**WHERE, **more})


def used(role: str, stage: str, permissions: Permissions = PERMISSIONS) -> set[str]:
    return {tool.value for tool in Tool if permissions.allows(asked(role, tool.value, stage=stage))}


def under(*rules: str) -> Permissions:
    told = {"id": "layer", "version": "1", "author": "t", "changed": "x", "effective_from": "2025-01-01T00:00:00Z"}
    manifest = json.dumps(told | {"tenant": "lumen", "base": "base"})
    named = "\n".join(f'@id("own-{n}") {rule}' for n, rule in enumerate(rules))
    return Permissions(PolicyEngine(Bundle.layered(BASE, {"manifest.json": manifest, "own.cedar": named})))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("role", ALLOWED)
def test_each_role_uses_its_tools_and_no_other_at_every_stage(role: str, stage: str) -> None:
    assert used(role, stage) == ALLOWED[role]


@pytest.mark.parametrize("stage", STAGES)
def test_the_bot_does_more_from_stage_to_stage(stage: str) -> None:
    assert used("bot", stage) == BOT[stage]


def test_every_role_stands_in_the_tables_above() -> None:
    assert {*ALLOWED, "bot"} == {role.value for role in ToolRole}


@pytest.mark.parametrize("role", ["manager", "finance"])
@pytest.mark.parametrize(
    ("amount_minor", "currency", "may"),
    [(10_000, "EUR", True), (10_001, "EUR", False), (1, "JPY", False), (0, "", True), (2**63 - 1, "EUR", False)],
)
def test_only_small_amounts_are_approved_in_a_batch(role: str, amount_minor: int, currency: str, may: bool) -> None:
    question = asked(role, "approve_in_batch", kind="refund", amount_minor=amount_minor, currency=currency)
    assert PERMISSIONS.allows(question) is may


@pytest.mark.parametrize(
    "currency", ["AUD", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "NOK", "NZD", "PLN", "SEK", "USD"]
)
def test_a_batch_may_be_in_any_currency_with_limits(currency: str) -> None:
    assert PERMISSIONS.allows(asked("manager", "approve_in_batch", kind="refund", amount_minor=1, currency=currency))


@pytest.mark.parametrize("kind", list(ActionKind))
@pytest.mark.parametrize("role", list(ToolRole))
def test_words_in_a_chat_consent_to_nothing_under_the_base(role: ToolRole, kind: ActionKind) -> None:
    assert not PERMISSIONS.allows(asked(role.value, "consent_in_words", kind=kind.value))


def test_a_layer_may_let_words_consent_to_what_it_names_and_never_to_a_way_into_an_account() -> None:
    words = under(
        'permit (principal == Role::"customer", action == Action::"use_tool", resource == Tool::"consent_in_words")'
        ' when { context.kind != "refund" || (context.amount_minor <= 1000 && context.currency == "EUR") };'
    )

    def may(kind: str, amount_minor: int = 0) -> bool:
        told = {"kind": kind, "amount_minor": amount_minor, "currency": "EUR"}
        return words.allows(asked("customer", "consent_in_words", **told))

    assert may("cancel_subscription")
    assert (may("refund", 1_000), may("refund", 1_001)) == (True, False)
    assert not may("restore_account_access")


def test_a_layer_takes_tools_away_and_a_forbid_outweighs_the_base() -> None:
    own = under('forbid (principal == Role::"agent", action == Action::"use_tool", resource == Tool::"reply");')
    assert used("agent", "automatic", own) == ALLOWED["agent"] - {"reply"}
    assert used("manager", "automatic", own) == ALLOWED["manager"]


def test_a_layer_that_fails_refuses() -> None:
    broken = 'permit (principal, action == Action::"use_tool", resource) when { context.amount_minor * 4 > 0 };'
    question = asked("agent", "take_over", amount_minor=2**62)
    assert PERMISSIONS.allows(question)
    assert not under(broken).allows(question)


@given(
    role=st.sampled_from(list(ToolRole)),
    tool=st.sampled_from(list(Tool)),
    stage=st.sampled_from([*STAGES, "", "?"]),
    kind=st.sampled_from(["", *ActionKind]),
    amount_minor=st.one_of(st.integers(-5, 10_001), st.just(2**63)),
    tenant_id=st.sampled_from(["lumen", 'a"b\n', "\ud800"]),
)
def test_a_kept_answer_is_the_one_that_judging_gives(tenant_id: str, **told: Any) -> None:
    question = ToolQuestion(**{**WHERE, **told, "tenant_id": tenant_id})
    fresh = PolicyEngine(BASE).judge_request(tool_request(question), ()).kind.value == "permit"
    assert [PERMISSIONS.allows(question) for _ in range(2)] == [fresh, fresh]
