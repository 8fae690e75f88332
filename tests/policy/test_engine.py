"""The engine under bundles of all sorts: three values, errors, and what does not load."""

from pathlib import Path

import pytest

from domain.action import ApprovalRole
from domain.verdict import VerdictKind
from policy.bundle import BASE, FILES, Bundle, BundleInvalid
from policy.engine import PolicyEngine
from tests.policy import worlds as w

BASE_FILES = {name: (BASE / name).read_text("utf-8") for name in FILES}
PERMIT = '@id("yes") permit (principal, action, resource);'
C, M, F = ApprovalRole


def engine(policies: str) -> PolicyEngine:
    return PolicyEngine(Bundle.parse({**BASE_FILES, "policies.cedar": policies}))


def needs(*roles: ApprovalRole, name: str = "needs") -> str:
    wanted = ", ".join(f'"{r.value}"' for r in roles)
    return f'@id("{name}") permit (principal, action, resource) when {{ context.approvals.containsAll([{wanted}]) }};'


@pytest.mark.parametrize(
    ("policies", "granted", "kind", "rules", "required", "missing"),
    [
        (PERMIT, (), "permit", ("yes",), (), ()),
        (PERMIT, (M,), "permit", ("yes",), (M,), ()),
        (needs(F), (), "ask", ("needs",), (F,), (F,)),
        (needs(F), (C,), "ask", ("needs",), (C, F), (F,)),
        (needs(C, M, F), (M,), "ask", ("needs",), (C, M, F), (C, F)),
        (needs(M, F) + needs(C, name="less"), (), "ask", ("less",), (C,), (C,)),
        (needs(M, name="a") + needs(C, name="b"), (), "ask", ("b",), (C,), (C,)),
        ('@id("no") forbid (principal, action, resource);', (), "forbid", ("no",), (), ()),
        ('@id("no") forbid (principal, action, resource);' + PERMIT, (C, M, F), "forbid", ("no",), (), ()),
        ('@id("other") permit (principal, action == Action::"cancel_subscription", resource);', (C, M, F), "forbid",
         ("default-deny",), (), ()),
        ('@id("until") forbid (principal, action, resource) unless { context.approvals.contains("manager") };' + PERMIT,
         (), "ask", ("yes",), (M,), (M,)),
        (needs(C)
         + '@id("never") forbid (principal, action, resource) when { context.approvals.contains("customer") };', (),
         "forbid", ("default-deny",), (), ()),
    ],
)  # fmt: skip
def test_verdicts_have_three_values(
    policies: str,
    granted: tuple[ApprovalRole, ...],
    kind: str,
    rules: tuple[str, ...],
    required: tuple[ApprovalRole, ...],
    missing: tuple[ApprovalRole, ...],
) -> None:
    verdict = engine(policies).judge(w.question(granted=granted))
    assert (verdict.kind, verdict.rule_ids, verdict.required, verdict.missing) == (kind, rules, required, missing)


OVERFLOW = "context.amount_minor * 9223372036854775807 * 2 > 0"
REFUND_ONLY = '(principal, action == Action::"refund", resource)'


def test_an_error_in_a_forbid_forbids() -> None:
    verdict = engine(PERMIT + f'@id("broken") forbid {REFUND_ONLY} when {{ {OVERFLOW} }};').judge(w.question())
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))


def test_an_error_in_one_permit_forbids_what_another_allows() -> None:
    verdict = engine(PERMIT + f'@id("broken") permit {REFUND_ONLY} when {{ {OVERFLOW} }};').judge(w.question())
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))


def test_an_error_beside_a_forbid_names_both() -> None:
    broken = f'@id("broken") permit {REFUND_ONLY} when {{ {OVERFLOW} }};'
    verdict = engine('@id("no") forbid (principal, action, resource);' + broken).judge(w.question())
    assert verdict.rule_ids == ("no", "evaluation-error")


def test_an_error_that_only_more_approvals_bring_out_forbids() -> None:
    rule = f'@id("later") permit {REFUND_ONLY} when {{ context.approvals.contains("customer") && {OVERFLOW} }};'
    verdict = engine(rule + needs(C, M)).judge(w.question())
    assert (verdict.kind, verdict.rule_ids) == (VerdictKind.FORBID, ("evaluation-error",))


def test_repeated_approvals_count_once() -> None:
    assert engine(needs(C)).judge(w.question(granted=(C, C))).required == (C,)


def test_rules_that_read_the_context_as_a_whole_are_tried_with_more_approvals() -> None:
    bundle = Bundle.parse({**BASE_FILES, "policies.cedar": needs(C) + PERMIT.replace("yes", "blind")})
    assert bundle.approval_blind == {"blind"}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("policies.cedar", "permit (principal, action, resource);", "rule 1 needs an @id"),
        ("policies.cedar", PERMIT + '@id("") permit (principal, action, resource);', "rule 2 needs an @id"),
        ("policies.cedar", '@id("A b") permit (principal, action, resource);', "rule 1 needs an @id"),
        ("policies.cedar", PERMIT + PERMIT, "yes is taken"),
        ("policies.cedar", PERMIT.replace("yes", "default-deny"), "default-deny is taken"),
        ("policies.cedar", '@id("t") permit (principal == ?principal, action, resource);', "templates"),
        ("policies.cedar", '@id("a") permit (principal, action, resource) when { context.nope == 1 };', "[a]"),
        ("policies.cedar", '@id("a") permit (principal, action, resource) when { context.kind == 1 };', "[a]"),
        ("policies.cedar", '@id("a") permit (principal, action == Action::"fly", resource);', "[a]"),
        ("policies.cedar", "permit permit", "does not parse"),
        ("schema.cedarschema", "entity entity", "does not parse"),
        ("manifest.json", "{}", "id: Field required"),
        ("manifest.json", "not json", "manifest.json: the file"),
        ("manifest.json", '{"id": "x", "version": "1", "author": "a", "effective_from": "2025-01-01T00:00:00"}',
         "effective_from"),
    ],
)  # fmt: skip
def test_what_does_not_validate_does_not_load(name: str, text: str, told: str) -> None:
    with pytest.raises(BundleInvalid) as caught:
        Bundle.parse({**BASE_FILES, name: text})
    assert told in str(caught.value)


def test_a_folder_without_its_files_does_not_load(tmp_path: Path) -> None:
    with pytest.raises(BundleInvalid, match="cannot be read"):
        Bundle.load(tmp_path)
    with pytest.raises(BundleInvalid, match="made of"):
        Bundle.parse({})


@pytest.mark.parametrize("name", FILES)
def test_the_digest_covers_every_file(name: str) -> None:
    base = Bundle.load()
    changed = Bundle.parse({**BASE_FILES, name: BASE_FILES[name] + "\n"})
    assert changed.digest != base.digest == Bundle.parse(base.files).digest
