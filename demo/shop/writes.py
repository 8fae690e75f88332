"""The write desk: one operation, one key, at most one effect, whatever is asked for again or goes wrong.

Effect, kept answer and changed resource are one SQLite transaction; faults act around it, never within it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sqlite3
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from demo.shop.books import Books, Done
from demo.shop.commands import Command
from demo.shop.database import transaction
from demo.shop.faults import Faults, Mode
from demo.shop.problems import BadRequest, Refusal
from demo.shop.rules import carry_out
from demo.shop.shapes import stamp

log = logging.getLogger("demo.shop")

RECORD_EFFECT = """
INSERT INTO effects
  (id, tenant, operation_id, kind, customer_id, resource, resource_kind, amount_minor, currency, at)
VALUES
  (:id, :tenant, :operation_id, :kind, :customer_id, :resource, :resource_kind, :amount_minor, :currency, :at)"""

#: of an effect's id; the other kinds have `ch_`, a change
PREFIXES = {"refund": "re_", "refund_duplicate_charge": "re_", "store_credit": "cr_", "cancel_subscription": "ca_"}


@dataclass(frozen=True)
class Contract:
    """What the shop promises about its writes; published at `GET /contract`."""

    key_window_s: float = 86_400
    late_commit_bound_s: float = 30


@dataclass(frozen=True)
class Answer:
    """What a write is answered with; `cut` means that the connection ends instead."""

    status: int
    body: str
    replayed: bool = False
    cut: bool = False


class ShopFailure(Exception):
    """The write failed on the shop's side and nothing was committed: a 5xx that promises nothing."""


class Desk:
    """Carries out writes for one database."""

    def __init__(self, db: sqlite3.Connection, faults: Faults, contract: Contract) -> None:
        self._db, self._faults, self._contract = db, faults, contract
        self._running: set[tuple[str, str]] = set()

    async def serve(self, command: Command, arrived_s: float) -> Answer:
        """The answer to a write that reached the shop at `arrived_s` (monotonic). Raises BadRequest, ShopFailure."""
        fault = self._faults.take(command.kind)
        running, key = self._running, (command.tenant, command.operation_id)
        if key in running:
            raise BadRequest(409, "key_in_use", "A request with this key is still running.")
        running.add(key)
        try:
            if fault is None:
                return self._decide(command, arrived_s)
            log.info("fault.met operation_id=%s mode=%s", command.operation_id, fault.mode)
            await asyncio.sleep(fault.delay_ms / 1000)
            if self._running is not running:
                raise ShopFailure("the shop was reset while this write waited")
            return self._misbehave(command, arrived_s, fault.mode)
        finally:
            running.discard(key)

    def forget_running(self) -> None:
        """After a reset: writes that still wait must not touch the new world."""
        self._running = set()

    def _misbehave(self, command: Command, arrived_s: float, mode: Mode) -> Answer:
        match mode:
            case Mode.ERROR_BEFORE_COMMIT:
                raise ShopFailure("something went wrong in the shop")
            case Mode.REJECT:
                return self._decide(command, arrived_s, declined=True)
            case Mode.DROP_RESPONSE_AFTER_COMMIT:
                return replace(self._decide(command, arrived_s), cut=True)
            case Mode.DUPLICATE:
                answer = self._decide(command, arrived_s)
                self._decide(command, arrived_s)
                return answer
            case Mode.DELAY:
                return self._decide(command, arrived_s)

    def _decide(self, command: Command, arrived_s: float, declined: bool = False) -> Answer:
        """One transaction: the kept answer again, or the change with its effect, or its refusal."""
        now = datetime.now(UTC)
        books = Books(self._db, command.tenant, now)
        with transaction(self._db):
            kept = self._kept(command, now)
            if kept:
                return kept
            try:
                if declined:
                    raise Refusal(422, "declined", "The shop declines this operation.")
                if time.monotonic() - arrived_s > self._contract.late_commit_bound_s:
                    raise Refusal(422, "too_late", "The request was too long in the shop to be carried out.")
                answer = Answer(201, self._record(command, carry_out(books, command.change), now))
            except Refusal as no:
                more = {"operation_id": command.operation_id}
                answer = Answer(no.status, json.dumps({"error": no.error, "title": no.title, **more}))
            row = (command.tenant, command.operation_id, command.fingerprint, answer.status, answer.body, stamp(now))
            self._db.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)", row)
        log.info("write.answered operation_id=%s kind=%s status=%d", command.operation_id, command.kind, answer.status)
        return answer

    def _kept(self, command: Command, now: datetime) -> Answer | None:
        """The first answer under this key while it is kept. Raises BadRequest where something else was asked."""
        expired = stamp(now - timedelta(seconds=self._contract.key_window_s))
        self._db.execute("DELETE FROM keys WHERE at <= ?", (expired,))
        where = "SELECT fingerprint, status, body FROM keys WHERE tenant = ? AND operation_id = ?"
        row = self._db.execute(where, (command.tenant, command.operation_id)).fetchone()
        if row is None:
            return None
        if row["fingerprint"] != command.fingerprint:
            raise BadRequest(422, "key_reuse", "This key belongs to a request with another content.")
        return Answer(row["status"], row["body"], replayed=True)

    def _record(self, command: Command, done: Done, now: datetime) -> str:
        effect = {
            "id": PREFIXES.get(command.kind, "ch_") + secrets.token_hex(8),
            "operation_id": command.operation_id,
            "kind": command.kind,
            "resource": done.resource,
            "resource_kind": done.resource_kind,
            "amount_minor": done.amount_minor,
            "currency": done.currency,
            "at": stamp(now),
        }
        row = {**effect, "tenant": command.tenant, "customer_id": command.change.customer_id}
        self._db.execute(RECORD_EFFECT, row)
        return json.dumps(effect)
