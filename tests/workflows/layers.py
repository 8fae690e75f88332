"""Layers over the base bundle, and stages of rollout, that a scene may have for its tenant for a while."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.types.json import Jsonb

from policy.bundle import Bundle
from settings import Settings
from tests.conftest import put_in_force

MANIFEST = {
    "id": "words",
    "version": "1",
    "author": "mia",
    "effective_from": "2025-01-01T00:00:00Z",
    "changed": "A yes in the chat confirms a refund of up to 25.00.",
    "base": "base",
}
IN_WORDS = """
@id("small-refunds-in-words")
permit (principal == Role::"customer", action == Action::"use_tool", resource == Tool::"consent_in_words")
when { context.kind == "refund" && context.amount_minor <= 2500 };
"""


@contextmanager
def in_force(settings: Settings, tenant: str, rules: str) -> Iterator[None]:
    """Publish a layer of the tenant over the base, and what was in force before afterwards."""
    base = Bundle.load()
    files = {"manifest.json": json.dumps({**MANIFEST, "tenant": tenant}), "words.cedar": rules}
    layer = Bundle.layered(base, files)
    with psycopg.connect(settings.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files, tenant_id, base_digest)"
            " VALUES (%s, 'words', '1', '{}', %s, %s, %s) ON CONFLICT DO NOTHING",
            (layer.digest, Jsonb(files), tenant, base.digest),
        )
        put_in_force(owner, tenant, layer.digest)
        try:
            yield
        finally:
            put_in_force(owner, tenant, base.digest)


@contextmanager
def at_stage(settings: Settings, tenant: str, stage: str) -> Iterator[None]:
    """Put the tenant at that stage, and back where it was afterwards."""
    change = "UPDATE tenants SET stage = %s WHERE id = %s"
    with psycopg.connect(settings.owner_url, autocommit=True) as owner:
        found = owner.execute("SELECT stage FROM tenants WHERE id = %s", (tenant,)).fetchone()
        assert found is not None
        owner.execute(change, (stage, tenant))
        try:
            yield
        finally:
            owner.execute(change, (found[0], tenant))
