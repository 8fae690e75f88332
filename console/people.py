"""Who did something, by name: the staff as the contract lists them, the assistant, the customer, the ledger.

Pure but for the one question who the staff are.
"""

from collections.abc import Mapping

from console.contract import Contract

_OTHERS = {
    "bot": "The assistant",
    "customer": "The customer",
    "anonymous": "The visitor",
    "ledger": "The ledger",
    "policy": "The policy",
    "executor": "The executor",
    "system": "Interlock",
    "service": "A service",
}


class People:
    """The names of a tenant's staff, seen by one of them."""

    def __init__(self, names: Mapping[str, str], me: str) -> None:
        self.names, self.me = names, me

    def name(self, actor: str | None) -> str:
        """Return who an actor (`staff:s-1`, `bot:interlock`) or a staff id is; `you` where it is who looks."""
        if actor is None:
            return "Nobody"
        kind, _, ident = actor.rpartition(":")
        if kind in {"", "staff"}:
            return "You" if ident == self.me else self.names.get(ident, ident)
        return _OTHERS.get(kind.partition(":")[0], actor)


async def people_of(contract: Contract, me: str) -> People:
    """Return the staff by name, as `me` sees them. Raises Problem."""
    return People({one["id"]: one["name"] for one in (await contract.once("/staff"))["items"]}, me)
