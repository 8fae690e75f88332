"""Laws of the policy's pages: rules are read with their words, and dispatch is stopped by whom the policy lets."""

from typing import Any

import psycopg

from auditing.report import Case, Cause, FlipRow, Report, Told
from console.rulebook import rules_of
from domain.action import ApprovalRole
from domain.principal import VerifiedPrincipal
from domain.verdict import VerdictKind
from policy.bundle import Bundle
from policy.examining.tally import Direction
from store.backtests import keep_backtest
from store.database import Database
from store.switches import switches
from tests.console import staffroom
from tests.console.staffroom import Staffroom
from tests.gateway import conftest as gateway

room, issuer, courier, make_doors = staffroom.room, gateway.issuer, gateway.courier, gateway.make_doors
tenant, manager, agent, publish = gateway.tenant, gateway.manager, gateway.agent, gateway.publish

Who = VerifiedPrincipal
AT = "2026-11-30T09:15:02+00:00"
FILE = """// How to read this file.

// A note about a bracket: permit (nobody);
@id("small")
permit (principal, action, resource)
when { context.note != "a; b // c" };
@id("never")
forbid (principal, action, resource);
"""


def test_a_rule_has_the_comment_right_above_it_else_its_id_in_words() -> None:
    small, never = rules_of({"a.cedar": FILE, "notes.txt": FILE})
    assert (small.ident, small.effect, small.line) == ("small", "permit", 4)
    assert small.says == "A note about a bracket: permit (nobody);"
    assert small.source.endswith('when { context.note != "a; b // c" };')
    assert (never.effect, never.says, never.line) == ("forbid", "Forbids: never.", 7)


def test_every_rule_of_the_base_is_found_with_its_line() -> None:
    files = dict(Bundle.load().files)
    found = rules_of(files)
    assert len(found) == sum(text.count('\n@id("') for name, text in files.items() if name.endswith(".cedar"))
    for rule in found:
        assert files[rule.file].splitlines()[rule.line - 1] == f'@id("{rule.ident}")'


async def test_a_bundle_is_read_rule_by_rule_and_line_by_line(
    room: Staffroom, tenant: str, agent: Who, publish: gateway.Publish
) -> None:
    digest = publish(tenant, Bundle.load())
    page = (await room.get(f"/policy/bundles/{digest}", agent)).text
    rule = next(rule for rule in rules_of(dict(Bundle.load().files)) if rule.ident == "refund-small-with-confirmation")
    assert f'id="rule-{rule.ident}"' in page
    assert f'href="#{rule.anchor}"' in page
    assert f'id="{rule.anchor}"' in page
    assert digest in (await room.get("/policy", agent)).text


async def test_dispatch_is_stopped_with_a_reason_and_goes_on_by_whom_policy_lets(
    room: Staffroom, db: Database, tenant: str, manager: Who, agent: Who, owner: psycopg.Connection[Any]
) -> None:
    assert "Your role cannot stop dispatch." in await room.words("/policy", agent)
    assert "Nothing is stopped" in (await room.get("/policy/switches", manager)).text
    stop = {"kind": "refund", "on": "true", "reason": "a drill"}
    refused = await room.post("/policy/switches", agent, stop)
    assert refused.headers["x-problem"] == "forbidden"
    nameless = await room.post("/policy/switches", manager, stop | {"reason": " "})
    assert nameless.headers["x-problem"] == "invalid-request"
    assert (await switches(db, tenant)).kinds == ()
    stopped = await room.post("/policy/switches", manager, stop)
    assert "Stopped:" in stopped.text
    assert [kind.value for kind in (await switches(db, tenant)).kinds] == ["refund"]
    assert '<option value="refund" selected>' in (await room.get("/policy/switches", manager)).text
    assert owner.execute("SELECT body FROM audit WHERE tenant_id = %s AND kind = 'switch'", (tenant,)).fetchone()


async def test_a_kept_backtest_says_what_would_come_out_otherwise(
    room: Staffroom, db: Database, tenant: str, agent: Who
) -> None:
    flip = FlipRow(
        kind="refund",
        currency="EUR",
        low_minor=5_000,
        high_minor=None,
        then=Told(verdict=VerdictKind.ASK, required=(ApprovalRole.CUSTOMER,)),
        now=Told(verdict=VerdictKind.FORBID, required=()),
        direction=Direction.STRICTER,
        decisions=3,
        operations=2,
        amount_minor=12_050,
        causes=(Cause(then=("large",), now=("never",), decisions=3),),
        other_causes=0,
        examples=(Case(tenant_id=tenant, n=7, at=AT, operation_id="op-1", use="propose", amount_minor=6_000),),
    )
    report = Report(
        under="acme@2",
        against=None,
        tenants=(tenant,),
        since=None,
        after=0,
        use=None,
        decisions=40,
        same=37,
        same_by_other_rules=1,
        flipped=3,
        flips=(flip,),
        unjudged=(),
        interrupted=False,
        through={tenant: 40},
        seconds=0.1,
    )
    kept = await keep_backtest(db, tenant, report.model_dump(mode="json"))
    assert f"/console/policy/backtests/{kept}" in (await room.get("/policy", agent)).text
    page = await room.words(f"/policy/backtests/{kept}", agent)
    assert "Refund above €50.00 ask (customer) forbid stricter 3 €120.50 large → never × 3" in page
