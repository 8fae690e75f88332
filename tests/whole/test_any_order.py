"""Whatever order messages, approvals, takeovers, releases and faults come in, the invariants hold, seen from outside.

Hypothesis writes the night: what the customer does and what staff do, at the same time, over a shop that misbehaves.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tests.whole.laws import (
    everything_is_answered_or_with_a_person,
    money_moves_at_most_once,
    nothing_of_the_bot_under_a_person_nor_the_other_way_round,
    the_log_is_whole,
    until_quiet,
)
from tests.whole.running import Chat, Product

Acts = list[tuple[str, int]]

CUSTOMER = st.lists(
    st.tuples(
        st.sampled_from(["ask", "refund", "correct", "thanks", "approve", "reject", "yes", "handoff", "pause"]),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=7,
)
STAFF = st.lists(
    st.tuples(
        st.sampled_from(["takeover", "release", "reply", "propose", "act", "pause", "pause", "pause"]),
        st.integers(0, 1),
    ),
    max_size=5,
)
FAULTS = st.lists(
    st.sampled_from(
        ["drop_response_after_commit", "error_before_commit", "reject", "duplicate", "delay_ms:300", "delay_ms:1200"]
    ),
    max_size=3,
)


@pytest.mark.timeout(600)
@given(customer=CUSTOMER, staff=STAFF, faults=FAULTS)
@settings(
    max_examples=15,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_night_keeps_the_invariants(product: Product, customer: Acts, staff: Acts, faults: list[str]) -> None:
    tenant, who, orders = product.two_orders()
    chat = Chat(product, tenant, who)
    for person in ("agent-1", "agent-2"):
        product.token("staff", tenant, person)
    product.shop("DELETE", "/_faults")
    for mode in faults:
        product.shop("POST", "/_faults", {"operation": "refund", "mode": mode, "times": 1})
    said: list[int] = []
    with ThreadPoolExecutor(2) as both:
        acting = [
            both.submit(play, customer, lambda act, n: customer_does(chat, orders, said, act, n)),
            both.submit(play, staff, lambda act, n: staff_does(chat, orders, act, n)),
        ]
        for done in acting:
            done.result()
    log = until_quiet(chat)
    note("\n".join(f"{e['seq']} {e['kind']} {e['actor']}" for e in log))
    the_log_is_whole(log, said)
    nothing_of_the_bot_under_a_person_nor_the_other_way_round(log)
    money_moves_at_most_once(product, chat, log)
    everything_is_answered_or_with_a_person(chat, log)


def play(acts: Acts, do: Callable[[str, int], None]) -> None:
    for act, n in acts:
        do(act, n)


def customer_does(chat: Chat, orders: list[str], said: list[int], act: str, n: int) -> None:
    words = {
        "ask": f"Where is my order {orders[n]}?",
        "refund": f"Order {orders[n]} arrived damaged. Please refund it.",
        "correct": f"Sorry, wrong one. I meant order {orders[n]}.",
        "thanks": "Thanks!",
        "yes": "Yes please.",
    }
    if act == "pause":
        time.sleep(0.25)
    elif act == "handoff":
        token = chat.token
        body = {"request_id": str(uuid4()), "reason": "please"}
        assert chat.product.call("POST", f"/conversations/{chat.id}/handoff", token, body).status_code == 200
    elif act in words:
        answer = chat.say(words[act])
        assert answer.status_code == 202, answer.text
        said.append(answer.json()["seq"])
    elif open_ones := [a for a in chat.view()["actions"] if a["state"] == "awaiting_approval"]:
        answer = chat.decide(open_ones[-1]["operation_id"], act)
        assert answer.status_code in (200, 409), answer.text


def staff_does(chat: Chat, orders: list[str], act: str, n: int) -> None:
    person = f"agent-{n + 1}"
    match act:
        case "act":
            staff_does(chat, orders, "takeover", n)
            staff_does(chat, orders, "propose", n)
        case "propose":
            what = {"kind": "refund", "resource": f"order:{orders[n]}", "amount_minor": 100, "currency": "EUR"}
            answer = chat.staff(person, "actions", request_id=str(uuid4()), **what)
            assert answer.status_code in (201, 409), answer.text
        case "takeover":
            assert chat.staff(person, "takeover", request_id=str(uuid4())).status_code == 200
        case "release":
            assert chat.staff(person, "release", request_id=str(uuid4())).status_code in (200, 409)
        case "reply":
            answer = chat.staff(person, "replies", client_message_id=str(uuid4()), text="I am looking into it.")
            assert answer.status_code in (202, 409), answer.text
        case _:
            time.sleep(0.3)
