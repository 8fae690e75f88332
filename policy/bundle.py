"""A policy bundle: Cedar policies, their schema and a manifest, parsed once and then immutable.

Reads its own files at load and nothing afterwards; what does not validate does not load.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import cedarpy
from pydantic import AwareDatetime, ValidationError

from domain.action import ApprovalRole
from domain.base import Noun, digest_of

FILES = ("policies.cedar", "schema.cedarschema", "manifest.json")
BASE = Path(__file__).parent / "bundles" / "base"
DEFAULT_DENY = "default-deny"
EVALUATION_ERROR = "evaluation-error"
RULE_ID = re.compile(r"[a-z][a-z0-9-]{0,79}")


class BundleInvalid(ValueError):
    """A bundle cannot be loaded; the message says which rule or file is wrong, and how."""


class Manifest(Noun):
    """Which bundle this is, who wrote it, and from when it counts."""

    id: str
    version: str
    author: str
    effective_from: AwareDatetime
    notes: str = ""


@dataclass(frozen=True, eq=False)
class Bundle:
    """A loaded bundle. `digest` covers every file of it; `policies` and `schema` are parsed handles."""

    manifest: Manifest
    files: Mapping[str, str]
    digest: str
    policies: cedarpy.PolicySet
    schema: cedarpy.Schema
    rule_ids: frozenset[str]
    approval_blind: frozenset[str]  # the rules that never look at approvals: more approvals change nothing for them
    roles: frozenset[ApprovalRole]  # those that some rule names: the approval of others changes nothing

    @classmethod
    def load(cls, folder: Path = BASE) -> Self:
        """Return the bundle in `folder`. Raises BundleInvalid."""
        try:
            return cls.parse({name: (folder / name).read_text("utf-8") for name in FILES})
        except (OSError, UnicodeDecodeError) as error:
            raise BundleInvalid(f"bundle {folder.name} cannot be read: {error}") from error

    @classmethod
    def parse(cls, files: Mapping[str, str]) -> Self:
        """Return the bundle that `files` (name to text, one for each of FILES) make. Raises BundleInvalid."""
        if set(files) != set(FILES):
            raise BundleInvalid(
                f"a bundle is made of {', '.join(FILES)}; these are {', '.join(sorted(files)) or 'none'}"
            )
        policies, schema = files["policies.cedar"], files["schema.cedarschema"]
        manifest = _manifest(files["manifest.json"])
        rules = _rules(_validated(policies, schema, manifest.id), manifest.id)
        words = {node for rule in rules.values() for node in _nodes(rule["conditions"]) if isinstance(node, str)}
        return cls(
            manifest=manifest,
            files=MappingProxyType(dict(files)),
            digest=digest_of(dict(files)),
            policies=cedarpy.PolicySet.from_str(policies),
            schema=cedarpy.Schema.from_str(schema),
            rule_ids=frozenset(rules),
            approval_blind=frozenset(name for name, rule in rules.items() if not _looks_at_approvals(rule)),
            roles=frozenset(role for role in ApprovalRole if role.value in words),
        )


def _manifest(text: str) -> Manifest:
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in error.errors(include_input=False)
        )
        raise BundleInvalid(f"manifest.json: {wrong}") from error


def _validated(policies: str, schema: str, bundle_id: str) -> dict[str, Any]:
    """The policies in Cedar's JSON form, once they parse and fit the schema."""
    try:
        cedarpy.Schema.from_str(schema)
        parsed: dict[str, Any] = json.loads(cedarpy.policies_to_json_str(policies))
    except ValueError as error:
        raise BundleInvalid(f"bundle {bundle_id} does not parse: {error}") from error
    result = cedarpy.validate_policies(policies, schema)
    if not result.validation_passed:
        names = result.id_annotations_by_policy_id
        told = "; ".join(f"[{names.get(e.policy_id, e.policy_id)}] {e.error}" for e in result.errors)
        raise BundleInvalid(f"bundle {bundle_id} does not fit its schema: {told}")
    return parsed


def _rules(parsed: Mapping[str, Any], bundle_id: str) -> dict[str, Any]:
    """The rules by `@id`. Raises BundleInvalid for a template, and for an id that is missing, odd or taken."""
    if parsed["templates"]:
        raise BundleInvalid(f"bundle {bundle_id}: templates decide nothing and are not allowed")
    rules: dict[str, Any] = {}
    for number, rule in enumerate(parsed["staticPolicies"].values(), start=1):
        name = rule.get("annotations", {}).get("id") or ""
        if not RULE_ID.fullmatch(name):
            raise BundleInvalid(f"bundle {bundle_id}: rule {number} needs an @id of a–z, 0–9 and hyphens, not {name!r}")
        if name in rules or name in (DEFAULT_DENY, EVALUATION_ERROR):
            raise BundleInvalid(f"bundle {bundle_id}: the rule id {name} is taken")
        rules[name] = rule
    return rules


def _looks_at_approvals(rule: Mapping[str, Any]) -> bool:
    """Whether the rule reads the approvals, or the context as a whole, which holds them."""
    return any(node == "approvals" or node == {"Var": "context"} for node in _nodes(rule["conditions"]))


def _nodes(node: Any) -> Iterator[Any]:
    """Every part of a condition, where an attribute of the context counts as the attribute's name alone."""
    yield node
    if isinstance(node, Mapping):
        if node.get("left") == {"Var": "context"} and "attr" in node:
            yield node["attr"]
            return
        for part in node.values():
            yield from _nodes(part)
    elif isinstance(node, list):
        for part in node:
            yield from _nodes(part)
