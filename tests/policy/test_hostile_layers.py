"""Laws of a layer that permits all it can: what the base forbids stays forbidden, consent and tools included."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.action import ActionKind, ApprovalRole
from domain.permission import Tool, ToolQuestion, ToolRole
from domain.verdict import PolicyQuestion, VerdictKind
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from policy.permissions import Permissions
from tests.policy.test_base_bundle import ENGINE, PERMITTED, ROLES, questions
from tests.policy.test_permissions import ALLOWED, BOT, STAGES

C, M, F = ApprovalRole
EVERYTHING = "permit (principal, action, resource);"
HOSTILE = [
    EVERYTHING,
    'permit (principal, action == Action::"use_tool", resource);',
    'permit (principal, action, resource) when { context.approvals.contains("manager") };',
    'permit (principal is Customer, action == Action::"restore_account_access", resource);',
    'permit (principal is Customer, action, resource) unless { context.approvals.contains("customer") };',
    'permit (principal, action == Action::"refund", resource) when { context.amount_minor * 1 > 0 };',
]
TOLD = {"id": "layer", "version": "1", "author": "t", "changed": "x", "effective_from": "2025-01-01T00:00:00Z"}
BASE_PERMITS = sorted(rule.id for rule in ENGINE.bundle.rules if rule.permits)


def under(rules: list[str], withdraws: list[str]) -> PolicyEngine:
    manifest = json.dumps(TOLD | {"tenant": "lumen", "base": "base", "withdraws": withdraws})
    named = "\n".join(f'@id("own-{n}") {rule}' for n, rule in enumerate(rules))
    return PolicyEngine(Bundle.layered(ENGINE.bundle, {"manifest.json": manifest, "own.cedar": named}))


LAYERS = [under(HOSTILE[:n], BASE_PERMITS[::step]) for n, step in ((1, 1), (2, 7), (4, 2), (len(HOSTILE), 1))]
ALL = under([EVERYTHING], [])


@given(questions(), st.sampled_from(LAYERS))
def test_what_a_rule_of_the_base_forbids_stays_forbidden(question: PolicyQuestion, layer: PolicyEngine) -> None:
    verdict = ENGINE.judge(question)
    if verdict.kind is VerdictKind.FORBID and verdict.rule_ids != ("default-deny",):
        assert layer.judge(question).kind is VerdictKind.FORBID


GIVEN_TO_THE_CUSTOMER = {ActionKind.REFUND, ActionKind.REFUND_DUPLICATE_CHARGE, ActionKind.STORE_CREDIT}


@given(st.sampled_from(list(ActionKind)), ROLES, st.sampled_from(STAGES), st.sampled_from(LAYERS))
def test_nothing_runs_without_the_customer_but_money_for_them_and_that_without_anybody_only_where_automatic(
    kind: ActionKind, granted: tuple[ApprovalRole, ...], stage: str, layer: PolicyEngine
) -> None:
    question = PERMITTED[kind].model_copy(update={"granted": granted, "stage": stage})
    if layer.judge(question).kind is not VerdictKind.PERMIT or C in granted:
        return
    assert kind in GIVEN_TO_THE_CUSTOMER
    assert granted or stage == "automatic"


def test_a_layer_may_give_money_without_asking_anybody_where_the_stage_is_automatic() -> None:
    asked = PERMITTED[ActionKind.REFUND].model_copy(update={"granted": ()})
    assert ALL.judge(asked).required == (C,)
    assert ALL.judge(asked.model_copy(update={"granted": (M,)})).kind is VerdictKind.PERMIT
    assert ALL.judge(asked.model_copy(update={"stage": "automatic"})).kind is VerdictKind.PERMIT


def test_a_way_into_an_account_always_asks_its_customer() -> None:
    for stage in STAGES[1:]:
        for granted in ((), (M,), (F,), (M, F)):
            told = {"granted": granted, "stage": stage}
            verdict = ALL.judge(PERMITTED[ActionKind.RESTORE_ACCOUNT_ACCESS].model_copy(update=told))
            assert verdict.kind is VerdictKind.FORBID or C in verdict.missing


HELD = {  # what a layer gives to no other role than the base does
    Tool.APPROVE_AS_MANAGER, Tool.APPROVE_AS_FINANCE, Tool.SETTLE_UNKNOWN, Tool.RESUME_DISPATCH, Tool.PUBLISH_POLICY,
    Tool.READ_AUDIT, Tool.MANAGE_STAFF, Tool.CONFIRM_OWN,
}  # fmt: skip
OF_OTHERS = {"customer", "anonymous", "service"}


@pytest.mark.parametrize("tool", list(Tool))
@pytest.mark.parametrize("role", list(ToolRole))
@pytest.mark.parametrize("layer", LAYERS[:2])
def test_a_layer_hands_no_tool_to_a_role_that_it_is_kept_from(layer: PolicyEngine, role: ToolRole, tool: Tool) -> None:
    permissions = Permissions(layer)
    for stage in STAGES:
        told = {"tenant_id": "lumen", "tenant_kind": "marketplace", "stage": stage}
        if not permissions.allows(ToolQuestion(role=role, tool=tool, **told)):
            continue
        if role is ToolRole.BOT:
            assert tool in BOT["automatic"]
            assert stage != "off"
        elif tool is Tool.CONSENT_IN_WORDS:
            assert role is ToolRole.CUSTOMER
        elif role in OF_OTHERS or tool in HELD:
            assert tool in ALLOWED[role]


def test_a_role_that_nobody_has_uses_nothing_whatever_a_layer_permits() -> None:
    context = {"tenant": {"id": "l", "kind": "saas"}, "stage": "automatic", "kind": "", "amount_minor": 0}
    asked = {
        "principal": {"type": "Role", "id": "revoked"},
        "action": {"type": "Action", "id": "use_tool"},
        "resource": {"type": "Tool", "id": "reply"},
        "context": {**context, "currency": ""},
    }
    assert ALL.judge_request(asked, ()).rule_ids == ("role-that-nobody-has",)
    asked["principal"] = {"type": "Role", "id": "agent"}
    assert ALL.judge_request(asked, ()).kind is VerdictKind.PERMIT
