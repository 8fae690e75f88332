"""What a scene must have come to, judged on what was recorded: the log, the ledger and the shop's effects.

Pure; each function returns what is wrong, in plain words, and nothing where all is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demo.tour.doors import Answer, Json

BOT_SPEAKS = ("bot_reply", "proposal")


@dataclass(frozen=True)
class Record:
    """All that was seen of one conversation."""

    events: Sequence[Json]
    actions: Mapping[str, Json]
    effects: Sequence[Json]

    def told_states(self, operation_id: str) -> list[str]:
        """Return the states of an action in the order in which the log told them."""
        mine = [e for e in self.events if e["kind"] == "action_state" and e["operation_id"] == operation_id]
        return [str(e["state"]) for e in mine]

    def effects_of(self, operation_id: str) -> int:
        """Return how often an operation took effect in the shop."""
        return sum(effect["operation_id"] == operation_id for effect in self.effects)

    def messages(self) -> int:
        """Return how many messages of the customer the log holds."""
        return sum(e["kind"] == "customer_message" for e in self.events)


def no_gaps(record: Record) -> list[str]:
    """The log counts 1, 2, 3, and so on."""
    seqs = sorted({e["seq"] for e in record.events})
    return [] if seqs == list(range(1, len(seqs) + 1)) else [f"the log's numbers have gaps: {seqs}"]


def answered(record: Record, order: str) -> list[str]:
    """One reply names the order, nothing was proposed, and nobody was called."""
    wrong = no_gaps(record)
    replies = [e for e in record.events if e["kind"] == "bot_reply"]
    if len(replies) != 1:
        wrong.append(f"{len(replies)} replies to one question")
    elif order not in replies[0]["text"]:
        wrong.append("the reply does not name the order")
    if any(e["kind"] in ("owner_changed", "proposal") for e in record.events):
        wrong.append("a plain question led to a proposal or a handoff")
    return wrong


def told_from_an_article(record: Record) -> list[str]:
    """The question was answered from a version of an article, nothing was proposed, and a person has it in the end."""
    wrong = no_gaps(record)
    replies = [e for e in record.events if e["kind"] == "bot_reply"]
    cited = [ref for reply in replies[:1] for ref in reply.get("citations", ()) if "@" in ref]
    if not cited:
        wrong.append("the reply names no article that it rests on")
    if any(e["kind"] == "proposal" for e in record.events):
        wrong.append("a question how something works led to a proposal")
    if not any(e["kind"] == "owner_changed" and e["owner"] == "human" for e in record.events):
        wrong.append("the conversation did not pass to a person")
    return wrong


def refunded_once(record: Record, operation_id: str) -> list[str]:
    """The action is confirmed, by its own history and in the log, with one effect in the shop."""
    action, wrong = record.actions[operation_id], no_gaps(record)
    if action["state"] != "confirmed":
        wrong.append(f"the refund is {action['state']}, not confirmed")
    if record.effects_of(operation_id) != 1:
        wrong.append(f"{record.effects_of(operation_id)} effects in the shop, not 1")
    if record.told_states(operation_id)[-1:] != ["confirmed"]:
        wrong.append("the log does not end in `confirmed`")
    return wrong


def settled_from_unknown(record: Record, operation_id: str) -> list[str]:
    """It was unknown first, said so, and then confirmed, with one effect."""
    states = record.told_states(operation_id)
    came_first = "unknown" in states and states.index("unknown") < len(states) - 1
    return refunded_once(record, operation_id) + ([] if came_first else [f"the log tells {states}, no `unknown` first"])


def silent_after_takeover(record: Record, operation_id: str, takeover: Json) -> list[str]:
    """After the change of owner the bot says nothing, while the write in flight is settled and shown."""
    wrong = refunded_once(record, operation_id)
    changes = [e["seq"] for e in record.events if e["kind"] == "owner_changed" and e["owner"] == "human"]
    if takeover.get("owner") != "human" or not changes:
        return [*wrong, "the conversation did not pass to a person"]
    if operation_id not in takeover.get("in_flight", ()):
        wrong.append("the takeover does not name the refund as in flight")
    late = [e["kind"] for e in record.events if e["seq"] > changes[0] and e["kind"] in BOT_SPEAKS]
    if late:
        wrong.append(f"the bot spoke after the takeover: {', '.join(late)}")
    after = [e for e in record.events if e["seq"] > changes[0] and e["kind"] == "action_state"]
    return wrong if after else [*wrong, "the outcome was not shown after the takeover"]


def corrected(record: Record, first: str, second: str, late_approval: Answer) -> list[str]:
    """The first proposal is superseded and can no longer be approved; the second one is refunded."""
    wrong = refunded_once(record, second)
    moved = record.actions[first]
    if (moved["state"], last_cause(moved)) != ("rejected", "superseded"):
        wrong.append(f"the first proposal is {moved['state']} ({last_cause(moved)}), not superseded")
    if record.effects_of(first):
        wrong.append("the first proposal took effect")
    if late_approval.status != 409:
        wrong.append(f"approving the first proposal was answered {late_approval.status}, not 409")
    return wrong


def one_log_for_two_tabs(record: Record, first: Answer, again: Answer, stale: Answer, anew: Answer) -> list[str]:
    """The repeat is the first message, the stale tab is refused with the version now, and both end in one log."""
    wrong = no_gaps(record)
    if (again.status, again.body.get("duplicate"), again.body.get("seq")) != (200, True, first.body.get("seq")):
        wrong.append(f"the repeat was answered {again.status}, seq {again.body.get('seq')}")
    if stale.status != 409 or not str(stale.body.get("type", "")).endswith("version-conflict"):
        wrong.append(f"the stale tab was answered {stale.status}, not 409 version-conflict")
    elif int(stale.body.get("current_version", 0)) <= int(first.body["seq"]):
        wrong.append("the refusal does not name the version now")
    if anew.status != 202:
        wrong.append(f"after reading on, the second tab was answered {anew.status}, not 202")
    if record.messages() != 2:
        wrong.append(f"{record.messages()} messages in the log, not 2")
    return wrong


def last_cause(action: Json) -> str:
    """Return why an action moved last."""
    history = action.get("history") or [{}]
    return str(history[-1].get("cause", ""))
