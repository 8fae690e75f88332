"""Rules as a bundle's files state them: each with its id, its place, and what its conditions look at.

Pure. A rule is parsed alone first, so that what is wrong with it can be told with its file and line.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cedarpy

from policy.invalid import BundleInvalid, line_of
from policy.statements import statements

DEFAULT_DENY = "default-deny"
EVALUATION_ERROR = "evaluation-error"
RULE_ID = re.compile(r"[a-z][a-z0-9-]{0,79}")
A_RULE = '`@id("name") forbid (principal, action, resource) when { … };` is a rule'

A_SHORTER_RULE = 'chain at most 50 conditions with && or ||: use several rules, or a list as in ["a", "b"].contains(…)'
LEVELS_MAX = 110  # of Cedar's JSON form, where an operator takes two; its own reader stops at 128

CONTEXT = {"Var": "context"}
Path = tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """One permit or forbid; `line` is where its text begins in `file`, `tree` is Cedar's JSON form of it."""

    id: str
    file: str
    line: int
    text: str
    tree: Mapping[str, Any]

    @property
    def permits(self) -> bool:
        """Whether it allows, rather than forbids."""
        return bool(self.tree["effect"] == "permit")

    @cached_property
    def paths(self) -> frozenset[Path]:
        """The attributes of the context that its conditions look at; the empty path is the context as a whole."""
        return frozenset(paths_in(self.tree["conditions"]))

    @cached_property
    def approval_blind(self) -> bool:
        """Whether it never looks at the approvals: more of them change nothing for it."""
        return not any(path[:1] in ((), ("approvals",)) for path in self.paths)


def rules_of(files: Mapping[str, str], taken: Iterable[str] = ()) -> tuple[Rule, ...]:
    """Return the rules of the `*.cedar` files, in the order of file names. Raises BundleInvalid.

    Ids are unique over all files, and none is one of `taken`.
    """
    seen = {DEFAULT_DENY: "a verdict without a rule", EVALUATION_ERROR: "a verdict without a rule"}
    seen |= dict.fromkeys(taken, "the base")
    rules = []
    for file in sorted(name for name in files if name.endswith(".cedar")):
        for line, text in statements(file, files[file]):
            rule = _rule(file, line, text)
            if rule.id in seen:
                wrong = f"the rule id {rule.id} is taken by {seen[rule.id]}"
                raise BundleInvalid(file, line_of(text, f"`{rule.id}`", line), wrong, "give the rule an id of its own")
            seen[rule.id] = f"the rule in {file}:{line}"
            rules.append(rule)
    return tuple(rules)


def context_path(node: Any) -> Path | None:
    """Return the attributes that `node` goes down from the context, or None where it does not start there."""
    if node == CONTEXT:
        return ()
    if not isinstance(node, Mapping) or len(node) != 1:
        return None
    [(operator, parts)] = node.items()
    if operator not in (".", "has") or not isinstance(parts, Mapping) or set(parts) != {"left", "attr"}:
        return None
    above = context_path(parts["left"])
    return None if above is None else (*above, parts["attr"])


def paths_in(node: Any) -> Iterator[Path]:
    """Yield every path into the context that a condition, or a part of one, looks at."""
    path = context_path(node)
    if path is not None:
        yield path
        return
    for part in parts_of(node):
        yield from paths_in(part)


def parts_of(node: Any) -> Iterator[Any]:
    """Yield the parts that `node` is made of, one level down."""
    if isinstance(node, Mapping):
        yield from node.values()
    elif isinstance(node, list):
        yield from node


def _rule(file: str, line: int, text: str) -> Rule:
    try:
        parsed = json.loads(cedarpy.policies_to_json_str(text))
    except RecursionError as error:
        raise BundleInvalid(file, line, "its conditions nest too deep", A_SHORTER_RULE) from error
    except ValueError as error:
        told = str(error)
        raise BundleInvalid(file, line_of(text, told, line), f"Cedar cannot read this rule: {told}", A_RULE) from error
    if parsed["templates"]:
        raise BundleInvalid(file, line, "a template decides nothing", "name the principal or resource, without a ?")
    [tree] = parsed["staticPolicies"].values() or [{}]
    if _levels(tree) > LEVELS_MAX:
        raise BundleInvalid(file, line, "its conditions nest too deep", A_SHORTER_RULE)
    name = tree.get("annotations", {}).get("id") or ""
    if not RULE_ID.fullmatch(name):
        wrong = f"this rule has the @id {name!r}" if name else "this rule has no @id"
        right = 'put @id("…") before it: up to 80 of a–z, 0–9 and hyphens, a letter first'
        raise BundleInvalid(file, line, wrong, right)
    return Rule(id=name, file=file, line=line, text=text, tree=tree)


def _levels(tree: Any) -> int:
    """How deep `tree` goes; counted level by level, since it may be deeper than Python would recurse."""
    level, deep = [tree], 0
    while level:
        level = [part for node in level for part in parts_of(node)]
        deep += 1
    return deep
