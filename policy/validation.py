"""Rules held against their schema by Cedar, and what it says told with its place and with what would be right.

Pure.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches

import cedarpy

from policy.invalid import BundleInvalid, line_of
from policy.rules import Rule
from policy.schema import NotUnderstood, SetOf, shapes_of

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
    raise BundleInvalid(rule.file, _line(rule, told), wrong, _advice(told, str(schema)))


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


def _advice(told: str, schema: str) -> str:
    for part, right in ADVICE:
        if part in told:
            return right
    named = re.search(r"`([^`]+)`", told)
    word = named[1] if named else ""
    if told.startswith("attribute"):
        near = get_close_matches(word, set(DECLARED.findall(schema)), n=1)
        return f"use an attribute that the schema declares{f', such as {near[0]}' if near else ''}"
    if "unrecognized action" in told:
        return f"the actions are {', '.join(ACTION.findall(schema))}"
    if "unrecognized entity type" in told:
        return f"the entity types are {', '.join(ENTITY.findall(schema))}"
    return "a rule that holds for every request that the schema allows"
