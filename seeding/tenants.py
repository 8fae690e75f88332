"""The base: a tenant for each of the business system's, with staff in every role, articles, and the base policy.

May be run again at any time; it adds what is missing and changes nothing that people have changed.
"""

from typing import Any

from domain.principal import StaffRole
from knowledge.seeds import seed_articles
from policy.bundle import Bundle
from store.database import Database
from store.policies import NewBundle, put_base
from store.provision import NewTenant, provision_tenant

STAFF = (
    ("agent-1", "Ada Lindqvist", StaffRole.AGENT),
    ("agent-2", "Bruno Okafor", StaffRole.AGENT),
    ("manager-1", "Chiara Rossi", StaffRole.MANAGER),
    ("manager-2", "Daniel Weber", StaffRole.MANAGER),
    ("finance-1", "Elif Demir", StaffRole.FINANCE),
    ("trust-1", "Gloria Santos", StaffRole.TRUST_AND_SAFETY),
    ("admin-1", "Farid Haddad", StaffRole.ADMIN),
)


def shipped_base() -> NewBundle:
    """Return the base bundle that comes with the product."""
    bundle = Bundle.load()
    return NewBundle(
        digest=bundle.digest,
        bundle_id=bundle.manifest.id,
        version=bundle.manifest.version,
        manifest=bundle.manifest.model_dump(mode="json"),
        files=dict(bundle.files),
    )


async def provision(owner: Database, world: dict[str, Any]) -> list[str]:
    """Provision every tenant of `world` (the shop's `GET /_world`); return their ids."""
    base = shipped_base()
    await put_base(owner, base)
    for tenant in world["tenants"]:
        await provision_tenant(
            owner,
            NewTenant(
                id=tenant["id"],
                name=tenant.get("name") or tenant["id"],
                kind=tenant["kind"],
                stage="approval_required",
                policy_digest=base.digest,
                staff=STAFF,
                articles=seed_articles(),
            ),
        )
    return [t["id"] for t in world["tenants"]]
