"""Rules held against their schema by Cedar, and what it says told with its place and with what would be right.

Pure.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import cedarpy

from domain.action import ApprovalRole
from policy.invalid import BundleInvalid, line_of
from policy.rules import Rule, context_path, parts_of
from policy.schema import NotUnderstood, Record, SetOf, shapes_of

DECLARED = re.compile(r"(?:^|[{,])\s*(\w+)\??:", re.MULTILINE)
ACTION = re.compile(r'^action "(.*?)"', re.MULTILINE)
ENTITY = re.compile(r"^entity (\w+)", re.MULTILINE)
ADVICE = (
    ("unable to guarantee safety", "ask for it first, such as `context.target has owner && context.target.owner == …`"),
    ("are not compatible", "compare values of one type; the schema says which type each fact has"),
    ("unexpected type", "use a value of the type that the schema gives that fact"),
    ("unable to find an applicable action", "name an action with a principal and a resource that it applies to"),
)  # fmt: skip


def hold_against(schema: cedarpy.Schema, rules: Sequence[Rule]) -> None:
    """Raise BundleInvalid for the first of `rules` that does not fit `schema`."""
    result = cedarpy.validate_policies("\n".join(rule.text for rule in rules), schema)
    if result.validation_passed:
        return
    faults = sorted(((_number(error.policy_id), error.error) for error in result.errors), key=lambda fault: fault[0])
    number, told = faults[0]
    rule = rules[number] if 0 <= number < len(rules) else rules[0]
    told = re.sub(r"^for policy `\w+`, ", "", told)
    wrong = f"rule {rule.id} does not fit the schema: {told}"
    raise BundleInvalid(rule.file, _line(rule, told), wrong, _advice(told, schema))


def hold_roles(rules: Sequence[Rule]) -> None:
    """Raise BundleInvalid where one of `rules` looks for an approval that nobody can give.

    To Cedar a role is any string: a misspelt one would wait for ever, or let a forbid hold whoever consents.
    """
    roles = [role.value for role in ApprovalRole]
    for rule in rules:
        for name in _held_against_approvals(rule.tree["conditions"]):
            if name not in roles:
                near = get_close_matches(name, roles, n=1)
                wrong = f"rule {rule.id} looks for the approval of `{name}`, a role that nobody has"
                right = f"the roles are {', '.join(roles)}{f'; is it {near[0]}?' if near else ''}"
                raise BundleInvalid(rule.file, line_of(rule.text, f"`{name}`", rule.line), wrong, right)


def _held_against_approvals(node: Any) -> Iterator[str]:
    """Yield every text that a condition, or a part of one, compares with the approvals or looks for in them."""
    sides = [part for part in parts_of(node) if isinstance(part, dict) and set(part) == {"left", "right"}]
    for side in sides:
        for one, other in ((side["left"], side["right"]), (side["right"], side["left"])):
            if context_path(one) == ("approvals",):
                yield from _texts(other)
    for part in parts_of(node):
        yield from _held_against_approvals(part)


def _texts(node: Any) -> Iterator[str]:
    """Yield the texts of a literal, or of a set of them."""
    match node:
        case {"Value": str(text)}:
            yield text
        case {"Set": list(elements)}:
            for element in elements:
                yield from _texts(element)
        case _:
            return  # not written out here, such as another fact


def hold_approvals(file: str, text: str, schema: cedarpy.Schema) -> None:
    """Raise BundleInvalid where an action's context has no approvals: the engine asks under what has been granted."""
    try:
        shapes = shapes_of(schema)
    except NotUnderstood:
        return  # Cedar then holds every request against the schema, and forbids what does not fit
    for action, shape in shapes.items():
        approvals = shape.context.fields.get("approvals")
        if shape.principals and (approvals is None or approvals.type != SetOf(str)):
            wrong = f"the context of the action {action} has no approvals"
            raise BundleInvalid(file, line_of(text, f"`{action}`"), wrong, "declare `approvals: Set<String>` in it")


def _number(policy_id: str) -> int:
    """Cedar numbers policies in the order of the text."""
    return int(policy_id.removeprefix("policy") or 0)


def _line(rule: Rule, told: str) -> int:
    """The line of the attribute, type or action that Cedar names; it may name the action too, which comes last."""
    subject = re.split(r" (?:in context|on entity type)", told)[0]
    return line_of(rule.text, subject, rule.line)


def _places(schema: cedarpy.Schema, word: str) -> list[str]:
    """The ways from the context to an attribute of that name, the shortest first."""
    try:
        shapes = shapes_of(schema).values()
    except NotUnderstood:
        return []
    ways = {way for shape in shapes for way in _ways("context", shape.context) if way.endswith(f".{word}")}
    return sorted(ways, key=lambda way: (way.count("."), way))


def _ways(above: str, record: Record) -> Iterator[str]:
    for name, field in record.fields.items():
        yield f"{above}.{name}"
        if isinstance(field.type, Record):
            yield from _ways(f"{above}.{name}", field.type)


def _advice(told: str, schema: cedarpy.Schema) -> str:
    for part, right in ADVICE:
        if part in told:
            return right
    named = re.search(r"`([^`]+)`", told)
    word = named[1] if named else ""
    if told.startswith("attribute"):
        if places := _places(schema, word):
            return f"the schema has it elsewhere, such as {places[0]}"
        near = get_close_matches(word, set(DECLARED.findall(str(schema))), n=1)
        return f"use an attribute that the schema declares{f', such as {near[0]}' if near else ''}"
    if "unrecognized action" in told:
        return f"the actions are {', '.join(ACTION.findall(str(schema)))}"
    if "unrecognized entity type" in told:
        return f"the entity types are {', '.join(ENTITY.findall(str(schema)))}"
    return "a rule that holds for every request that the schema allows"
