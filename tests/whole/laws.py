"""What holds of every conversation once it is quiet, whoever said what in which order, seen from outside.

Each law takes the log as its customer reads it, and asserts.
"""

import time
from typing import Any

from tests.whole.running import Chat, Product

SETTLES_WITHIN_S = 60.0


def until_quiet(chat: Chat) -> list[dict[str, Any]]:
    """Wait until every action is settled or waits for consent, and nothing is unanswered under the bot."""
    end = time.monotonic() + SETTLES_WITHIN_S
    while time.monotonic() < end:
        view, log = chat.view(), chat.events()
        moving = [a for a in view["actions"] if a["state"] in ("proposed", "submitted", "unknown")]
        if not moving and (view["owner"] != "bot" or answered_through(log) >= last_message(log)):
            return log
        time.sleep(0.1)
    raise AssertionError(f"not quiet: {chat.view()}")


def last_message(log: list[dict[str, Any]]) -> int:
    written: list[int] = [e["seq"] for e in log if e["kind"] == "customer_message"]
    return max(written, default=0)


def answered_through(log: list[dict[str, Any]]) -> int:
    """How far the bot has answered, or people have dealt with things, by a reply or by what they proposed."""
    bots: list[int] = [e.get("answers_through", 0) for e in log]
    handed: list[int] = [e["seq"] for e in log if e["kind"] == "owner_changed" and e["owner"] == "human"]
    replied: list[int] = [e["seq"] for e in log if e["kind"] == "staff_reply" or of_staff(e)]
    return max([0, *bots, *handed, *replied])


def the_log_is_whole(log: list[dict[str, Any]], said: list[int]) -> None:
    """INVARIANT 1."""
    assert [e["seq"] for e in log] == list(range(1, len(log) + 1))
    assert [e["seq"] for e in log if e["kind"] == "customer_message"] == said
    answers = [e["answers_through"] for e in log if "answers_through" in e]
    assert answers == sorted(set(answers)), "a message was answered twice"


def of_staff(event: dict[str, Any]) -> bool:
    """Whether it is the proposal of a person."""
    return event["kind"] == "proposal" and not event["automated"]


def nothing_of_the_bot_under_a_person_nor_the_other_way_round(log: list[dict[str, Any]]) -> None:
    """INVARIANT 3."""
    owner, epoch = "bot", 1
    of_people = {e["operation_id"] for e in log if of_staff(e)}
    for event in log:
        if event["kind"] == "owner_changed":
            assert event["owner_epoch"] == epoch + 1
            owner, epoch = event["owner"], event["owner_epoch"]
        if event["kind"] in ("bot_reply", "proposal") or event.get("state") == "submitted":
            assert owner == ("human" if event.get("operation_id") in of_people else "bot"), event


def money_moves_at_most_once(product: Product, chat: Chat, log: list[dict[str, Any]]) -> None:
    """INVARIANTS 2, 4, 6 and 7."""
    for glimpse in chat.view()["actions"]:
        action = chat.action(glimpse["operation_id"])
        effects = product.effects(action["operation_id"])
        moves = [e for e in log if e.get("operation_id") == action["operation_id"]]
        assert len(effects) == (action["state"] == "confirmed"), (action["state"], effects)
        if any(e.get("state") == "submitted" for e in moves):
            approved = [e["seq"] for e in moves if e["kind"] == "approval" and e["decision"] == "approve"]
            submitted = [e["seq"] for e in moves if e.get("state") == "submitted"]
            assert [len(approved), len(submitted)] == [1, 1]
            assert approved[0] < submitted[0]
        if effects:
            assert effects[0]["amount_minor"] == action["payload"]["amount_minor"]


def everything_is_answered_or_with_a_person(chat: Chat, log: list[dict[str, Any]]) -> None:
    """INVARIANT 1, its other half."""
    view = chat.view()
    assert view["owner"] == "human" or answered_through(log) >= last_message(log)
    assert view["owner"] != "human" or view["handoff"] is not None
