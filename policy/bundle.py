"""A policy bundle: Cedar rules, their schema and a manifest, parsed once and then immutable.

Reads its own files at load and nothing afterwards; what does not validate does not load.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

import cedarpy

from domain.base import digest_of
from policy.invalid import BundleInvalid as BundleInvalid
from policy.invalid import line_of, schema_fault
from policy.manifest import MANIFEST, Facts, Manifest, read_manifest
from policy.rules import DEFAULT_DENY as DEFAULT_DENY
from policy.rules import EVALUATION_ERROR as EVALUATION_ERROR
from policy.rules import Rule, rules_of
from policy.statements import hold_nesting
from policy.validation import hold_against, hold_approvals, hold_roles

BUNDLES = Path(__file__).parent / "bundles"
BASE = BUNDLES / "base"
SCHEMA = "schema.cedarschema"
CASES = "cases.jsonl"
A_BASE = f"a base is made of {MANIFEST}, {SCHEMA}, one or more *.cedar and, if you like, {CASES}"
A_LAYER = f"a tenant's layer is made of {MANIFEST}, any *.cedar and, if you like, {CASES}: it has its base's schema"


@dataclass(frozen=True, eq=False)
class Bundle:
    """A loaded bundle. `rules` are all that count under it, its base's included; `files` are its own alone.

    `digest` names what decides: its own files but the cases, and for a layer its base's digest.
    """

    manifest: Manifest
    base: "Bundle | None"
    files: Mapping[str, str]
    digest: str
    rules: tuple[Rule, ...]
    schema: cedarpy.Schema

    @property
    def rule_ids(self) -> frozenset[str]:
        """The ids of all rules that count under it."""
        return frozenset(rule.id for rule in self.rules)

    @property
    def facts(self) -> Facts:
        """Whose facts its requests are made from."""
        return (self.base or self).manifest.facts

    @classmethod
    def load(cls, folder: Path = BASE, base: "Bundle | None" = None) -> Self:
        """Return the bundle in `folder`: a tenant's layer where `base` is given. Raises BundleInvalid."""
        files = read_folder(folder)
        return cls.parse(files) if base is None else cls.layered(base, files)

    @classmethod
    def parse(cls, files: Mapping[str, str]) -> Self:
        """Return the base bundle that `files` (name to text) make. Raises BundleInvalid."""
        manifest = read_manifest(_manifest_of(files))
        if manifest.base is not None:
            right = f"load it together with its base, {manifest.base}"
            raise BundleInvalid(MANIFEST, 1, f"bundle {manifest.id} is a tenant's layer", right)
        _hold_names(files, {MANIFEST, SCHEMA, CASES}, A_BASE)
        if SCHEMA not in files:
            raise BundleInvalid(SCHEMA, 1, "the file is missing", A_BASE)
        rules = rules_of(files)
        if not rules:
            raise BundleInvalid("policies.cedar", 1, "there is no rule in any *.cedar", A_BASE)
        schema = _schema(files[SCHEMA])
        hold_approvals(SCHEMA, files[SCHEMA], schema)
        hold_against(schema, rules)
        hold_roles(rules)
        return cls(manifest, None, MappingProxyType(dict(files)), digest_of(_deciding(files)), rules, schema)

    @classmethod
    def layered(cls, base: "Bundle", files: Mapping[str, str]) -> Self:
        """Return the bundle that a tenant's `files` make over `base`. Raises BundleInvalid.

        INVARIANT: every forbid of the base is among its rules, so that it permits nothing that one of them forbids.
        """
        manifest = read_manifest(_manifest_of(files))
        _hold_base(manifest, base, files[MANIFEST])
        _hold_names(files, {MANIFEST, CASES}, A_LAYER)
        _hold_withdrawn(manifest, base, files[MANIFEST])
        own = rules_of(files, taken=base.rule_ids)
        hold_against(base.schema, own)
        hold_roles(own)
        kept = tuple(rule for rule in base.rules if rule.id not in manifest.withdraws)
        digest = digest_of({"base": base.digest, "files": _deciding(files)})
        return cls(manifest, base, MappingProxyType(dict(files)), digest, kept + own, base.schema)


def read_folder(folder: Path) -> dict[str, str]:
    """Return the texts of the files in `folder` that a bundle is made of, by name. Raises BundleInvalid."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".cedar" or path.name in _NAMES)
    except OSError as error:
        raise BundleInvalid(str(folder), 1, f"cannot be read: {error.strerror}", A_BASE) from error
    return {path.name: _text(path) for path in found}


def unread(folder: Path) -> tuple[str, ...]:
    """Return the names of what else is in `folder`, by which nothing is decided; hidden files and notes aside."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return ()  # `read_folder` says so
    return tuple(name for name in names if name not in _NAMES and not _ASIDE.search(name))


_NAMES = {MANIFEST, SCHEMA, CASES}
_ASIDE = re.compile(r"^[._]|\.cedar$|\.md$|~$")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise BundleInvalid(path.name, 1, f"cannot be read: {error.strerror}", "a file that can be read") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BundleInvalid(path.name, line, f"not UTF-8: {error.reason}", "text in UTF-8") from error


def _manifest_of(files: Mapping[str, str]) -> str:
    if MANIFEST not in files:
        raise BundleInvalid(MANIFEST, 1, "the file is missing", A_BASE)
    return files[MANIFEST]


def _hold_names(files: Mapping[str, str], allowed: set[str], right: str) -> None:
    for name in sorted(files):
        if name not in allowed and not name.endswith(".cedar"):
            raise BundleInvalid(name, 1, "no such file belongs to this kind of bundle", right)


def _hold_base(manifest: Manifest, base: Bundle, text: str) -> None:
    if base.base is not None:
        right = f"layer it over {base.base.manifest.id} itself"
        raise BundleInvalid(MANIFEST, 1, f"{base.manifest.id} is a tenant's layer and no base", right)
    if manifest.base != base.manifest.id:
        wrong = f"base is {manifest.base!r}, and the base that counts here is {base.manifest.id!r}"
        right = f'write "base": "{base.manifest.id}"'
        raise BundleInvalid(MANIFEST, line_of(text, '`"base":`'), wrong, right)
    if "facts" in manifest.model_fields_set and manifest.facts is not base.manifest.facts:
        wrong = f"facts is {manifest.facts.value}, and the base has {base.manifest.facts.value}"
        raise BundleInvalid(MANIFEST, 1, wrong, "leave facts out: a layer has its base's")


def _hold_withdrawn(manifest: Manifest, base: Bundle, text: str) -> None:
    rules = {rule.id: rule for rule in base.rules}
    for name in manifest.withdraws:
        if name not in rules:
            right = "withdraws names permits of the base by their @id"
            raise BundleInvalid(MANIFEST, line_of(text, f"`{name}`"), f"the base has no rule {name} to withdraw", right)
        if not rules[name].permits:
            right = "a layer does without permits of its base, never without a forbid"
            raise BundleInvalid(MANIFEST, line_of(text, f"`{name}`"), f"{name} is a forbid of the base", right)


def _schema(text: str) -> cedarpy.Schema:
    hold_nesting(SCHEMA, text)
    try:
        return cedarpy.Schema.from_str(text)
    except ValueError as error:
        raise schema_fault(SCHEMA, text, error) from error


def _deciding(files: Mapping[str, str]) -> dict[str, str]:
    """The files that decide: all but the cases."""
    return {name: text for name, text in files.items() if name != CASES}


def cedar_of(rules: Sequence[Rule]) -> cedarpy.PolicySet:
    """Return `rules` as Cedar evaluates them."""
    return cedarpy.PolicySet.from_str("\n".join(rule.text for rule in rules))
