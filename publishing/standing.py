"""Whether the bundles in force load: what an upgrade, or a hand in the database, has broken shows before traffic does.

Read only; what is found is told a sentence each, for whoever runs Interlock.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from domain.refusal import Refusal
from policy.engine import PolicyEngine
from policy.invalid import BundleInvalid
from policy.permissions import Permissions
from publishing.publish import bundle_of
from publishing.timeline import spans
from store.database import Database
from store.policies import publications


async def not_loading(db: Database, tenants: Sequence[str], now: datetime) -> tuple[str, ...]:
    """Return, for each tenant whose bundle in force cannot judge, which that is and what is wrong with it."""
    seen: dict[str, str | None] = {}
    told = []
    for tenant_id in tenants:
        coming = spans(await publications(db, tenant_id), now)
        if not coming or coming[0].since > now:
            told.append(f"{tenant_id}: no bundle is in force")
            continue
        digest = coming[0].publication.digest
        if digest not in seen:
            seen[digest] = await _wrong_with(db, tenant_id, digest)
        if (wrong := seen[digest]) is not None:
            told.append(f"{tenant_id}: the bundle in force, {digest[:12]}, does not load: {wrong}")
    return tuple(told)


async def _wrong_with(db: Database, tenant_id: str, digest: str) -> str | None:
    try:
        bundle = await bundle_of(db, tenant_id, digest)
        if bundle.digest != digest:
            return f"its files are those of {bundle.digest[:12]}"
        await asyncio.to_thread(lambda: Permissions(PolicyEngine(bundle)))
    except (BundleInvalid, Refusal) as fault:
        return str(fault)
    return None
