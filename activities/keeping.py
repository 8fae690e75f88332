"""What a process remembers of work that is begun again after a failure, so that nobody is asked, and paid, twice.

It holds text of people and lives in memory alone: bounded, and nothing kept for one tenant is given to another.
"""

from collections import OrderedDict
from typing import Generic, TypeVar

STEPS_PER_TENANT_MAX = 32  # that are on their way at once, and failed
TENANTS_MAX = 128

Found = TypeVar("Found")


class Kept(Generic[Found]):
    """The results of steps, by tenant and key; the oldest of a tenant's goes first, whatever the others hold."""

    def __init__(self, per_tenant_max: int = STEPS_PER_TENANT_MAX, tenants_max: int = TENANTS_MAX) -> None:
        self._per_tenant_max = per_tenant_max
        self._tenants_max = tenants_max
        self._tenants: OrderedDict[str, OrderedDict[str, Found]] = OrderedDict()

    def get(self, tenant_id: str, key: str) -> Found | None:
        """Return what is kept under `key` for that tenant, or None."""
        return self._tenants.get(tenant_id, OrderedDict()).get(key)

    def keep(self, tenant_id: str, key: str, found: Found) -> None:
        """Keep `found`, in place of what was kept under that key."""
        mine = self._tenants.setdefault(tenant_id, OrderedDict())
        self._tenants.move_to_end(tenant_id)
        mine[key] = found
        mine.move_to_end(key)
        if len(mine) > self._per_tenant_max:
            mine.popitem(last=False)
        if len(self._tenants) > self._tenants_max:
            self._tenants.popitem(last=False)

    def drop(self, tenant_id: str, key: str) -> None:
        """Forget what is kept under `key`, if anything."""
        mine = self._tenants.get(tenant_id, OrderedDict())
        mine.pop(key, None)
        if not mine:
            self._tenants.pop(tenant_id, None)
