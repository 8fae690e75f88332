"""Small rulebooks and requests made up at random: rules of every form over a schema of their own."""

import copy
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from domain.action import ApprovalRole
from policy.bundle import Bundle

SCHEMA = """
entity Customer; entity Role; entity Order; entity Tool;
type Target = { owner?: Customer, status: String, amount_minor: Long };
type Line = { sku: String, count: Long };
type Facts = {
  approvals: Set<String>, status: String, amount_minor: Long, urgent: Bool, target: Target, asked_for: Customer,
  tags: Set<String>, note?: String, lines: Set<Line>,
};
action "money";
action "refund" in ["money"] appliesTo { principal: [Customer], resource: [Order], context: Facts };
action "credit" in ["money"] appliesTo { principal: [Customer, Role], resource: [Order], context: Facts };
action "cancel" appliesTo { principal: [Customer], resource: [Order, Tool], context: Facts };
"""

SCOPES = [
    "principal, action, resource",
    'principal, action == Action::"refund", resource',
    'principal, action in [Action::"refund", Action::"cancel"], resource',
    'principal, action in Action::"money", resource',
    "principal is Customer, action, resource is Order",
    'principal == Role::"agent", action == Action::"credit", resource',
]
OVERFLOW = "context.amount_minor * 9223372036854775807 * 2 > 0"
CONDITIONS = [
    'context.approvals.contains("customer")',
    'context.approvals.contains("manager")',
    'context.approvals.containsAll(["customer", "manager"])',
    'context.approvals.containsAny(["manager", "finance"])',
    "context.approvals.isEmpty()",
    'context.approvals == ["finance"]',
    '["customer", "manager"].containsAll(context.approvals)',
    "context.approvals.containsAll(context.tags)",
    "context.amount_minor > 100",
    "context.amount_minor <= context.target.amount_minor",
    'context.status == "active"',
    'context.target.status like "deliv*"',
    "context.target has owner && context.target.owner == principal",
    "context.asked_for == principal",
    'context.tags.contains("vip")',
    'context has note && context.note == "x"',
    'context.lines.contains({sku: "a", count: 1})',
    "[context.target].contains(context.target)",
    "context.urgent",
    OVERFLOW,
]
REFUSED = st.sampled_from([None, 1.5, 2**63, "\ud800", [], {}, [1], True, 7, "7", {"__entity": {"type": "Nope"}}])


@st.composite
def conditions(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3))
    negated = [f"!({part})" if draw(st.booleans()) else f"({part})" for part in parts]
    return draw(st.sampled_from([" && ", " || "])).join(negated)


@st.composite
def rules(draw: st.DrawFn, effects: Sequence[str] = ("permit", "permit", "forbid")) -> str:
    """A rule without its @id."""
    word = draw(st.sampled_from(["when", "when", "unless"]))
    clause = f" {word} {{ {draw(conditions())} }}" if draw(st.integers(0, 9)) else ""
    return f"{draw(st.sampled_from(effects))} ({draw(st.sampled_from(SCOPES))}){clause};"


def rulebooks(min_size: int = 1, max_size: int = 6) -> st.SearchStrategy[list[str]]:
    return st.lists(rules(), min_size=min_size, max_size=max_size)


def text_of(texts: Sequence[str], prefix: str = "r") -> str:
    return "\n".join(f'@id("{prefix}{number}")\n{text}' for number, text in enumerate(texts))


def manifest(**more: Any) -> str:
    given = {"id": "made-up", "version": "1", "author": "a test", "changed": "all of it", **more}
    return json.dumps({"effective_from": "2025-01-01T00:00:00Z", **given}, indent=1)


def bundle(texts: Sequence[str]) -> Bundle:
    return Bundle.parse({"manifest.json": manifest(), "schema.cedarschema": SCHEMA, "r.cedar": text_of(texts)})


def layer(base: Bundle, texts: Sequence[str], withdraws: Sequence[str] = ()) -> Bundle:
    told = manifest(id="layer", tenant="lumen", base=base.manifest.id, withdraws=list(withdraws))
    return Bundle.layered(base, {"manifest.json": told, "own.cedar": text_of(texts, "own")})


ROLES = st.sets(st.sampled_from(list(ApprovalRole)))


def customer(name: str) -> dict[str, Any]:
    return {"__entity": {"type": "Customer", "id": name}}


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """One that fits the schema."""
    action = draw(st.sampled_from(["refund", "refund", "credit", "cancel"]))
    owner = draw(st.sampled_from([{}, {"owner": customer("a")}, {"owner": customer("b\n")}]))
    staff = action == "credit" and draw(st.booleans())
    status, amount = draw(st.sampled_from(["delivered", "shipped", "é"])), draw(st.sampled_from([0, 100, 101]))
    note = draw(st.sampled_from([{}, {"note": "x"}, {"note": "ü\n"}]))
    return {
        "principal": {"type": "Role" if staff else "Customer", "id": draw(st.sampled_from(["a", "agent", "b\n"]))},
        "action": {"type": "Action", "id": action},
        "resource": {"type": "Order", "id": "o"},
        "context": {
            "status": draw(st.sampled_from(["active", "blocked"])),
            "amount_minor": draw(st.sampled_from([1, 100, 101, -(2**63), 2**63 - 1])),
            "urgent": draw(st.booleans()),
            "target": {**owner, "status": status, "amount_minor": amount},
            "asked_for": customer(draw(st.sampled_from(["a", "b\n"]))),
            "tags": draw(st.lists(st.sampled_from(["vip", "customer", "x"]), max_size=3)),
            "lines": draw(st.lists(st.sampled_from([{"sku": "a", "count": 1}, {"sku": "b", "count": 2}]), max_size=2)),
            **note,
        },
    }


PLACES = [
    *(("context", name) for name in ("status", "amount_minor", "urgent", "target", "asked_for", "tags", "lines")),
    *(("context", "target", name) for name in ("status", "amount_minor", "owner")),
    *((part, name) for part in ("principal", "action", "resource") for name in ("type", "id")),
    *((part,) for part in ("principal", "action", "resource", "context")),
    ("context", "asked_for", "__entity"),
    ("context", "asked_for", "__entity", "type"),
]


@st.composite
def broken_requests(draw: st.DrawFn) -> dict[str, Any]:
    """One with something missing, of another type, or too much; a few still fit."""
    made = copy.deepcopy(draw(requests()))
    *way, last = draw(st.sampled_from(PLACES))
    place = made
    for step in way:
        place = place[step]
    match draw(st.sampled_from(["drop", "change", "change", "add"])):
        case "drop":
            place.pop(last, None)
        case "change":
            place[last] = draw(REFUSED)
        case _:
            place["unheard_of"] = draw(REFUSED)
    return made
