"""How facts read on a terminal: one short text for an event, a move of the ledger, an effect.

Pure; widths, colours and printing are the teller's.
"""

from __future__ import annotations

from datetime import UTC, datetime

from demo.tour.casting import Case
from demo.tour.doors import Json

BEHIND = frozenset({"evidence", "draft", "verdict", "understanding", "summary"})
SPEAKERS = {"customer_message": "customer", "bot_reply": "bot", "staff_reply": "staff"}


def speaker(event: Json) -> str:
    """Return who or what an event is of, in one word or two."""
    return SPEAKERS.get(event["kind"], str(event["kind"]).replace("_", " "))


def told(event: Json) -> str:
    """Return what an event says, in one sentence or a few labels."""
    match event["kind"]:
        case "customer_message" | "bot_reply" | "staff_reply" | "notice":
            return str(event.get("text", ""))
        case "proposal":
            needs = ", ".join(event.get("required_approvals", ()))
            return f"{event.get('summary', '')}" + (f" [needs: {needs}]" if needs else "")
        case "approval":
            return f"{event.get('decision', '')} by the {event.get('role', '')}"
        case "action_state":
            cause = f" ({event['cause']})" if event.get("cause") else ""
            return f"→ {event['state']}{cause} {event.get('text') or ''}".rstrip()
        case "owner_changed":
            return f"→ {event['owner']}, epoch {event['owner_epoch']}"
        case "handoff":
            return _joined(event.get("queue_status"), event.get("reason"))
        case _:
            return _behind(event)


def _behind(event: Json) -> str:
    """Return the labels of what only staff see."""
    match event["kind"]:
        case "understanding":
            return _joined(event.get("intent"), event.get("resource"), f"next step: {event.get('step')}")
        case "verdict":
            kind, roles = str(event.get("verdict_kind", "")), ", ".join(event.get("required", ()))
            consent = f"{'needs' if kind == 'ask' else 'with'} {roles}" if roles else None
            return _joined(kind, consent, *event.get("rule_ids", ()))
        case "evidence":
            return f"account read, kept as {short(str(event.get('evidence_id', '')))}"
        case _:
            return str(event.get("text", ""))


def moves(action: Json) -> list[tuple[str, str, str, str]]:
    """Return the ledger's rows of an action: time, move, cause, actor."""
    return [
        (
            clock(str(row["at"])),
            f"{row.get('from_state') or '(new)'} → {row['to_state']}",
            str(row["cause"]),
            str(row["actor"]),
        )
        for row in action.get("history", ())
    ]


def title_of(action: Json) -> str:
    """Return what an action is, with its operation id."""
    payload = action.get("payload", {})
    what = payload.get("order_id") or payload.get("payment_id") or payload.get("subscription_id") or ""
    amount = payload.get("amount_minor")
    cost = f" of {money(amount, payload.get('currency', ''))}" if isinstance(amount, int) else ""
    return f"{action['kind']}{cost} on {what}, operation {action['operation_id']}"


def effect(found: Json) -> str:
    """Return one committed effect of the shop."""
    amount = found.get("amount_minor")
    cost = f" of {money(amount, found.get('currency') or '')}" if isinstance(amount, int) else ""
    return f"{found['kind']}{cost} on {found['resource']} at {clock(str(found['at']))}"


def of_case(case: Case) -> str:
    """Return whose order it is, for the head of a scene."""
    return f"{case.customer} of {case.tenant}, order {case.order}, {money(case.refundable_minor, case.currency)}"


def money(minor: int, currency: str) -> str:
    """Return an amount of minor units with two decimals and its currency."""
    return f"{minor // 100}.{minor % 100:02d} {currency}".rstrip()


def clock(stamp: str) -> str:
    """Return the time of day of an ISO stamp, in UTC, to the millisecond; the stamp itself where it is not one."""
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    return at.astimezone(UTC).strftime("%H:%M:%S.%f")[:12]


def since(stamp: str, first: str) -> str:
    """Return how long after the stamp `first` another one is, such as `+1.23 s`."""
    return f"+{(datetime.fromisoformat(stamp) - datetime.fromisoformat(first)).total_seconds():.2f} s"


def short(ident: str) -> str:
    """Return the beginning of a long id."""
    return ident if len(ident) <= 10 else f"{ident[:8]}…"


def _joined(*parts: object) -> str:
    return " · ".join(str(part) for part in parts if part)
