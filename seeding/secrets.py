"""The demo's secrets: one for each tenant's tickets and one for its chat, made at random where there is none yet.

They are printed nowhere; `interlock secret set` puts others in their place.
"""

from collections.abc import Sequence

from store.database import Database
from store.secrets import TICKETS, WIDGET, Vault, new_secret, secrets_of, set_secret


async def give_secrets(db: Database, vault: Vault, tenant_ids: Sequence[str]) -> None:
    """Give each tenant the secrets that it lacks."""
    for tenant_id in tenant_ids:
        known = {row.name for row in await secrets_of(db, tenant_id)}
        for name in (TICKETS, WIDGET):
            if name not in known:
                await set_secret(db, vault, tenant_id, name, new_secret(name))
