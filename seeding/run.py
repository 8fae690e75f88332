"""`interlock seed`: the base always, the demo's past once; `reset` begins again from nothing.

Composes its tools from the settings, like the worker does.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from activities.considering import Considering
from activities.drafting import Drafting
from activities.executing import Executing
from activities.free_text import readers
from activities.gathering import Gathering
from activities.library import Library
from activities.policybook import PolicyBook
from activities.proposing import Proposing
from activities.speaking import Speaking
from connectors.shop import ShopConnector
from domain.base import Noun
from knowledge.indexing import index_missing
from language.drafting import TemplateDrafter
from language.embedding import embedder
from language.ledger_words import LedgerWords
from language.routing import LocalUnderstander
from seeding.alive import Alive, bring_to_life
from seeding.desks import give_desks
from seeding.hand import Hand
from seeding.people import people_of, write_people
from seeding.secrets import give_secrets
from seeding.tenants import provision
from store.database import Database
from store.provision import erase_everything, has_conversations
from store.secrets import Vault


class Seeded(Noun):
    """What is there now; `alive` None: conversations were there already, and were left alone."""

    tenants: tuple[str, ...]
    alive: Alive | None


async def seed(
    owner: Database,
    db: Database,
    shop: ShopConnector,
    shop_url: str,
    *,
    reset: bool,
    progress: Callable[[str], None],
    people_file: Path | None = None,
    vault: Vault | None = None,
) -> Seeded:
    """Fill the database, and the file of who may sign in to the demo. Raises httpx.HTTPError."""
    async with httpx.AsyncClient(base_url=shop_url, timeout=30) as http:
        if reset:
            await erase_everything(owner)
            (await http.post("/_reset")).raise_for_status()
        world: dict[str, Any] = (await http.get("/_world")).raise_for_status().json()
        tenants = await provision(owner, world)
        await give_desks(db, world)
        if people_file is not None:
            write_people(people_file, people_of(world))
        if vault is not None:
            await give_secrets(db, vault, tenants)
        await index_missing(owner, tenants, embedder())
        if await has_conversations(owner):
            return Seeded(tenants=tuple(tenants), alive=None)
        alive = await bring_to_life(_hand(db, shop), owner, world, progress)
        if alive.unknown_operation is not None:
            await _keep_unknown(http, alive.unknown_operation)
    return Seeded(tenants=tuple(tenants), alive=alive)


def _hand(db: Database, shop: ShopConnector) -> Hand:
    words, policies, library = LedgerWords(), PolicyBook(db), Library(db, embedder())
    return Hand(
        db=db,
        shop=shop,
        considering=Considering(db, Gathering(db, shop, LocalUnderstander(), library, None), policies),
        speaking=Speaking(db, Drafting(db, TemplateDrafter(), library, readers()), words),
        proposing=Proposing(db, policies, words, confirmation_ttl_s=1_800, staff_ttl_s=86_400),
        executing=Executing(db, shop, policies, words, claim_ttl_s=20, sends_max=3, staff_ttl_s=86_400),
        words=words,
    )


async def _keep_unknown(http: httpx.AsyncClient, operation_id: str) -> None:
    """Let the demo shop be unable to look this one up, until its faults are cleared."""
    fault = {"operation": "look_up", "mode": "unavailable", "operation_id": operation_id}
    (await http.post("/_faults", json=fault)).raise_for_status()
