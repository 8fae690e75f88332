"""A small base and layers over it: what is tried with them is publishing, not their rules."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from policy.bundle import BASE, Bundle, read_folder
from publishing.examining import Examined, examine
from publishing.publish import Published, publish_layer
from store.database import Database

# The schema and the permissions that come with the product, with few other rules: what is tried here is publishing.
FILES = {
    "manifest.json": json.dumps(
        {"id": "small", "version": "1", "author": "a", "effective_from": "2025-01-01T00:00:00Z", "changed": "First."}
    ),
    "schema.cedarschema": read_folder(BASE)["schema.cedarschema"],
    "permissions.cedar": read_folder(BASE)["permissions.cedar"],
    "rules.cedar": """
@id("refund-with-confirmation")
permit (principal, action == Action::"refund", resource)
when { context.approvals.contains("customer") };

@id("evidence-too-old")
forbid (principal is Customer, action, resource)
when { context.evidence.age_s > context.evidence.max_age_s };
""",
}
BOOK = Bundle.parse(FILES)
STRICTER = """
@id("small-refunds-only-up-to-ten")
forbid (principal, action == Action::"refund", resource)
when { context.amount_minor > 1000 && !context.approvals.contains("manager") };
"""


def layer(whose: str, rules: str = STRICTER, cases: str = "", **manifest: Any) -> dict[str, str]:
    told = {
        "id": "stricter",
        "version": "1",
        "author": "mia",
        "effective_from": "2026-01-01T00:00:00Z",
        "changed": "A manager from 10.01 on.",
        "tenant": whose,
        "base": BOOK.manifest.id,
        **manifest,
    }
    files = {"manifest.json": json.dumps(told), "limits.cedar": rules}
    return {**files, "cases.jsonl": cases} if cases else files


async def here(files: Mapping[str, str], base_files: Mapping[str, str] | None) -> Examined:
    return examine(files, base_files)


def now() -> datetime:
    return datetime.now(UTC)


def newer(rules: str = "", **manifest: Any) -> dict[str, str]:
    """The small base in a version that no other test publishes, with `rules` besides."""
    told = {**json.loads(FILES["manifest.json"]), "version": uuid4().hex, **manifest}
    files = {**FILES, "manifest.json": json.dumps(told)}
    return {**files, "more.cedar": rules} if rules else files


async def publish(
    db: Database, tenant: str, files: Mapping[str, str] | None = None, at: datetime | None = None
) -> Published:
    return await publish_layer(db, tenant, files or layer(tenant), "staff:mia", "less risk", here, at or now())
