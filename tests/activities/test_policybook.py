"""Laws of the policy book: a bundle is opened by its digest, and what is not there judges nothing."""

import asyncio
import json
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from activities.policybook import PolicyBook
from domain.fault import OperationalFault
from domain.permission import Tool, ToolQuestion, ToolRole
from domain.verdict import VerdictKind
from policy.bundle import Bundle
from store.database import Database
from tests.policy.worlds import question
from tests.postgres import Postgres
from tests.workflows.shop_world import MARKET, SAAS

BASE = Bundle.load()
REPLY = ToolQuestion(
    tenant_id=MARKET, tenant_kind="marketplace", stage="automatic", role=ToolRole.AGENT, tool=Tool.REPLY
)


def keep(database: Postgres, digest: str, bundle: Bundle, tenant: str | None = None) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO policy_bundles (digest, bundle_id, version, manifest, files, tenant_id, base_digest)"
            " VALUES (%s, 'b', '1', '{}', %s, %s, %s)",
            (digest, Jsonb(dict(bundle.files)), tenant, bundle.base.digest if bundle.base else None),
        )


def layer() -> Bundle:
    told = {"id": "layer", "version": uuid4().hex, "author": "t", "changed": "x"}
    manifest = {**told, "effective_from": "2025-01-01T00:00:00Z", "tenant": MARKET, "base": "base"}
    rule = '@id("own") forbid (principal == Role::"agent", action == Action::"use_tool", resource == Tool::"reply");'
    return Bundle.layered(BASE, {"manifest.json": json.dumps(manifest), "own.cedar": rule})


async def test_a_published_bundle_opens_once_and_judges(db: Database) -> None:
    book = PolicyBook(db)
    await asyncio.gather(*(book.open(MARKET, BASE.digest) for _ in range(5)))
    await db.close()
    await book.open(SAAS, BASE.digest)  # it is not read again, or this would leave a connection open
    judged = book.judge(BASE.digest, question())
    assert judged.verdict.kind is VerdictKind.ASK
    assert judged.request["action"]["id"] == "refund"
    assert book.allows(BASE.digest, REPLY)


async def test_a_layer_opens_over_its_base_and_counts_for_its_tenant_alone(db: Database, database: Postgres) -> None:
    own = layer()
    keep(database, own.digest, own, MARKET)
    book = PolicyBook(db)
    with pytest.raises(OperationalFault, match="policy_bundle_missing"):
        await book.open(SAAS, own.digest)
    await book.open(MARKET, own.digest)
    assert not book.allows(own.digest, REPLY)
    assert book.judge(own.digest, question()).verdict.policy_digest == own.digest


async def test_an_unknown_bundle_is_a_fault_and_never_a_permission(db: Database) -> None:
    book = PolicyBook(db)
    with pytest.raises(OperationalFault, match="policy_bundle_missing"):
        await book.open(MARKET, "no-such-digest")
    with pytest.raises(OperationalFault, match="policy_bundle_not_open"):
        book.judge("no-such-digest", question())
    with pytest.raises(OperationalFault, match="policy_bundle_not_open"):
        book.allows("no-such-digest", REPLY)


async def test_a_bundle_under_another_name_than_its_own_judges_nothing(db: Database, database: Postgres) -> None:
    changed = Bundle.parse({**BASE.files, "general.cedar": BASE.files["general.cedar"] + "// touched\n"})
    keep(database, "as-it-was", changed)
    book = PolicyBook(db)
    with pytest.raises(OperationalFault, match="policy_bundle_not_as_named"):
        await book.open(MARKET, "as-it-was")
    with pytest.raises(OperationalFault, match="policy_bundle_not_open"):
        book.allows("as-it-was", REPLY)
