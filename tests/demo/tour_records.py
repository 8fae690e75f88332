"""Records of scenes as they were once seen, for the laws of the tour: events, ledger rows, effects."""

from typing import Any

from demo.tour.doors import Answer
from demo.tour.verdicts import Record

Json = dict[str, Any]
OP, FIRST = "0b9c7a52-0f1e-4a51-9f5e-1d6f6a2f0001", "0b9c7a52-0f1e-4a51-9f5e-1d6f6a2f0002"


def event(seq: int, kind: str, **more: Any) -> Json:
    return {"seq": seq, "kind": kind, "actor": "bot:interlock", "at": f"2026-11-30T12:00:{seq:02d}+00:00", **more}


def state(seq: int, name: str, operation_id: str = OP) -> Json:
    return event(seq, "action_state", operation_id=operation_id, state=name)


def action(name: str, cause: str, operation_id: str = OP) -> Json:
    row = {"from_state": "submitted", "to_state": name, "cause": cause, "actor": "executor:interlock"}
    payload = {"order_id": "A-10482", "amount_minor": 2350, "currency": "EUR"}
    history = [{**row, "at": "2026-11-30T12:00:04.250000+00:00"}]
    return {"operation_id": operation_id, "kind": "refund", "state": name, "payload": payload, "history": history}


def effect(operation_id: str = OP) -> Json:
    at = "2026-11-30T12:00:03.100000Z"
    money = {"amount_minor": 2350, "currency": "EUR"}
    return {"operation_id": operation_id, "kind": "refund", "resource": "A-10482", "at": at, **money}


def answered() -> Record:
    reply = event(2, "bot_reply", text="Order A-10482 is in transit.", citations=["ev-1"])
    behind = event(2, "understanding", intent="order_status", step="answer", resource="order:A-10482")
    return Record([event(1, "customer_message", text="Where is A-10482?"), behind, reply], {}, [])


def told_from_an_article(*more: Json, cites: str = "refund-times@1") -> Record:
    """A question answered from what it cites; then a person was wanted. `more` stands in between."""
    asked = event(1, "customer_message", text="How long does a refund take?")
    reply = event(2, "bot_reply", text="It takes a few days.", citations=[cites])
    wanted = event(3, "customer_message", text="I want a person.")
    return Record([asked, reply, wanted, *more, event(4, "owner_changed", owner="human", owner_epoch=2)], {}, [])


def refunded(*states: str) -> Record:
    """A refund whose log tells `states` after its proposal."""
    told = [state(n, name) for n, name in enumerate(states, 3)]
    begin = [event(1, "customer_message", text="Refund it."), event(2, "proposal", operation_id=OP)]
    return Record([*begin, *told], {OP: action(states[-1], "succeeded")}, [effect()])


def taken_over(*after: Json) -> Record:
    """A refund that a person's takeover met in flight; `after` is what the log holds from seq 5 on."""
    begin = refunded("submitted").events
    change = event(4, "owner_changed", owner="human", owner_epoch=2)
    return Record([*begin, change, *after], {OP: action("confirmed", "succeeded")}, [effect()])


def corrected() -> Record:
    told = [
        event(1, "customer_message", text="Refund A-1."),
        event(2, "proposal", operation_id=FIRST),
        event(3, "customer_message", text="Sorry, I meant A-2."),
        state(4, "rejected", FIRST),
        event(5, "proposal", operation_id=OP),
        state(6, "submitted"),
        state(7, "confirmed"),
    ]
    actions = {FIRST: action("rejected", "superseded", FIRST), OP: action("confirmed", "succeeded")}
    return Record(told, actions, [effect()])


def two_tabs() -> tuple[Record, Answer, Answer, Answer, Answer]:
    log = [event(n, kind) for n, kind in enumerate(("customer_message", "bot_reply") * 2, 1)]
    first = Answer(202, {"seq": 1, "version": 1, "duplicate": False})
    again = Answer(200, {"seq": 1, "version": 1, "duplicate": True})
    stale = Answer(409, {"type": "http://x/problems/version-conflict", "current_version": 2})
    return Record(log, {}, []), first, again, stale, Answer(202, {"seq": 3, "version": 3})


def world(*customers: Json, kind: str = "marketplace") -> Json:
    return {"tenants": [{"id": "acme", "kind": kind, "customers": list(customers)}]}


def customer(ident: str, *orders: Json) -> Json:
    return {"id": ident, "orders": list(orders)}


def order(ident: str, captured: int = 2_000, refunded: int = 0, status: str = "delivered") -> Json:
    money = {"captured_minor": captured, "refunded_minor": refunded, "currency": "EUR"}
    return {"id": ident, "status": status, **money}
