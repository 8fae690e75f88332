"""The whole product asking a model that it cannot trust: its stack, its conversations, and what is on record of them.

Speaks HTTP as customers and staff do; the database is looked at for what was booked, and for nothing else.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from temporalio.client import WorkflowHistory

from relay.temporal import TemporalAddress, connect
from replaying.chains import fetch
from stack import keys
from stack.environment import recorded
from stack.layout import DataDir
from tests.whole.hostile_world import ORDERED, TENANT, Buyer, buyers, write_world
from tests.whole.laws import until_quiet
from tests.whole.running import ROOT, Chat, Product, running

STAFF = "agent-1"
KEY = "sk-test-0f3a9c77e1"
TOKEN_TTL_S = 7_200
Log = list[dict[str, Any]]


class StaffedChat(Chat):
    """A conversation that staff look at too."""

    def as_staff(self, path: str) -> dict[str, Any]:
        """What a member of staff is told at `path`."""
        token = self.product.token("staff", self.tenant, STAFF)
        found: dict[str, Any] = self.product.call("GET", path, token).json()
        return found


@dataclass(frozen=True)
class Talk:
    """One conversation that has come to rest."""

    name: str
    buyer: Buyer
    chat: StaffedChat
    said: tuple[str, ...]
    log: Log
    staff_log: Log

    @property
    def shown(self) -> str:
        """Every word that the customer was sent by anybody but themselves."""
        return "\n".join(
            str(e.get("text") or e.get("summary") or "") for e in self.log if e["kind"] != "customer_message"
        )

    @property
    def handed_off_for(self) -> str:
        """Why a person has it; empty where none has."""
        handoff = self.chat.view()["handoff"]
        return str(self.chat.as_staff("/handoffs/" + handoff["id"])["reason"]) if handoff else ""

    @property
    def withheld(self) -> list[dict[str, Any]]:
        """The drafts that were not sent, as staff see them."""
        return [e for e in self.staff_log if e["kind"] == "draft"]


@dataclass
class Theatre:
    """The stack, and the customers who have not been on yet."""

    product: Product
    waiting: Iterator[Buyer] = field(default_factory=buyers)
    talks: list[Talk] = field(default_factory=list)

    def play(self, scenes: dict[str, Sequence[str]]) -> list[Talk]:
        """Have all conversations at once, each with a customer of its own, and wait until all are at rest."""
        with ThreadPoolExecutor(len(scenes)) as at_once:
            cast = [(name, next(self.waiting), lines) for name, lines in scenes.items()]
            talks = list(at_once.map(lambda one: self._talk(*one), cast))
        self.talks += talks
        return talks

    def _talk(self, name: str, buyer: Buyer, lines: Sequence[str]) -> Talk:
        self._sign_in("customer", buyer.id)
        self._sign_in("staff", STAFF)
        chat = StaffedChat(self.product, TENANT, buyer.id)
        said = tuple(line.format(delivered=buyer.delivered, shipped=buyer.shipped) for line in lines)
        for line in said:
            assert chat.say(line).status_code == 202
            until_quiet(chat)
        log, for_staff = until_quiet(chat), chat.as_staff(f"/conversations/{chat.id}/events?after=0")
        return Talk(name, buyer, chat, said, log, for_staff["events"])

    def _sign_in(self, kind: str, ident: str) -> None:
        data = DataDir.at(self.product.data_dir)
        self.product.tokens[kind, TENANT, ident] = keys.mint(data, kind, TENANT, ident, TOKEN_TTL_S)

    def booked(self, talks: Sequence[Talk]) -> list[tuple[str, str]]:
        """Role and outcome of every call to a model that these conversations took."""
        url = recorded(DataDir.at(self.product.data_dir))["INTERLOCK_DATABASE_OWNER_URL"]
        asking = "SELECT role, outcome FROM model_calls WHERE conversation_id = ANY(%s)"
        with psycopg.connect(url) as connection:
            return connection.execute(asking, ([t.chat.id for t in talks],)).fetchall()

    def histories(self) -> list[WorkflowHistory]:
        """Every run of the workflows of all conversations so far."""

        async def all_of_them() -> list[WorkflowHistory]:
            where = TemporalAddress(self.product.ready["temporal_address"], self.product.ready["temporal_namespace"])
            client = await connect(where, lazy=False)
            return [run for talk in self.talks for run in (await fetch(client, talk.chat.id)).runs]

        return asyncio.run(all_of_them())

    def logged(self) -> str:
        """Every line that any process of ours has logged."""
        folder = DataDir.at(self.product.data_dir).logs
        return "\n".join(path.read_text(errors="replace") for path in folder.glob("*.log"))


@contextmanager
def theatre(folder: Path, base_url: str, models_file: Path, titles: Sequence[str] = (ORDERED,)) -> Iterator[Theatre]:
    """Run the product with `openai` set, against the models at `base_url`."""
    world = write_world(folder / "world.json", titles)
    told = {
        "INTERLOCK_MODEL": "openai",
        "INTERLOCK_MODEL_BASE_URL": base_url,
        "INTERLOCK_MODEL_API_KEY": KEY,
        "INTERLOCK_MODELS_FILE": str(models_file),
        "INTERLOCK_LOG_LEVEL": "debug",
    }
    with running(folder / "data", "--shop-world", str(world), told=told) as product:
        yield Theatre(product)


def ids_in(text: str) -> set[str]:
    """Whatever looks like the number of an order or the like."""
    return set(re.findall(r"\b[A-Z]{1,4}-\d{3,}\b", text))


def amounts_in(text: str) -> set[str]:
    """Whatever looks like an amount, by its digits."""
    return {re.sub(r"\D", "", found) for found in re.findall(r"\d+[.,]\d\d\b", text)}


@cache
def articles() -> str:
    """All that the product's own articles say, in every language."""
    return "\n".join(path.read_text() for path in (ROOT / "knowledge" / "articles").rglob("*.md"))
