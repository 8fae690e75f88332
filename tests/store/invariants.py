"""What must hold whatever happened, read from the rows alone: the log, the transitions, the approvals (design §11)."""

from collections import Counter
from itertools import pairwise
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from domain.action import LEGAL_MOVES, ActionState

Rows = list[Any]
IN_FLIGHT = ("submitted", "unknown")


def hold(owner: psycopg.Connection[Any], tenant: str) -> None:
    """Check every invariant over all conversations of a tenant."""

    def rows(query: str) -> Rows:
        with owner.cursor(row_factory=namedtuple_row) as cursor:
            return cursor.execute(query.encode(), {"t": tenant}).fetchall()

    conversations = rows("SELECT * FROM conversations WHERE tenant_id = %(t)s")
    actions = rows("SELECT * FROM actions WHERE tenant_id = %(t)s")
    transitions = rows("SELECT * FROM transitions WHERE tenant_id = %(t)s ORDER BY operation_id, n")
    approvals = rows("SELECT * FROM approvals WHERE tenant_id = %(t)s ORDER BY id")
    events = rows("SELECT * FROM events WHERE tenant_id = %(t)s ORDER BY conversation_id, seq, part")
    drafts = rows("SELECT * FROM drafts WHERE tenant_id = %(t)s")
    handoffs = rows("SELECT * FROM handoffs WHERE tenant_id = %(t)s AND queue_status <> 'done'")
    for row in conversations:
        log = [e for e in events if e.conversation_id == row.id and e.part == 0]
        own = {a.operation_id: a for a in actions if a.conversation_id == row.id}
        log_is_whole(row, log)
        nobody_spoke_out_of_turn(row, log, own)
        every_answer_is_new(row, log)
        moves_are_told(log, own, transitions)
        words_are_the_answer_to_a_proposal(log, [a for a in approvals if a.operation_id in own])
        drafts_are_let_out_once(row, log, [d for d in drafts if d.conversation_id == row.id])
        people_have_what_is_theirs(row, [h for h in handoffs if h.conversation_id == row.id])
    for action in actions:
        moves_are_legal(action, [t for t in transitions if t.operation_id == action.operation_id])
        approvals_fit(action, [a for a in approvals if a.operation_id == action.operation_id])
    assert all(n == 1 for n in Counter(a.resource for a in actions if a.state in IN_FLIGHT).values())


def log_is_whole(row: Any, log: Rows) -> None:
    """1: numbered without gap or repeat; times rise; nothing answered or consumed that is not there."""
    assert [e.seq for e in log] == list(range(1, row.version + 1))
    assert all(a.at <= b.at for a, b in pairwise(log))
    assert row.customer_seq == max((e.seq for e in log if e.kind == "customer_message"), default=0)
    assert row.answered_seq <= row.customer_seq
    assert row.consumed_seq <= row.version


def nobody_spoke_out_of_turn(row: Any, log: Rows, own: dict[str, Any]) -> None:
    """3: bot and people spoke and reserved only as the owner, at their epoch; the epoch rose by one at each change."""
    owner, epoch = "bot", 1
    for event in log:
        if event.kind == "owner_changed":
            assert event.body["owner_epoch"] == epoch + 1
            owner, epoch = event.body["owner"], epoch + 1
        if event.kind == "bot_reply":
            assert owner == "bot", event
        if event.kind == "staff_reply":
            assert owner == "human", event
        if event.kind == "proposal" or (event.kind == "action_state" and event.body["state"] == "submitted"):
            action = own[event.body["operation_id"]]
            asked_by = "human" if action.requested_by.startswith("staff:") else "bot"
            assert (owner, epoch) == (asked_by, action.owner_epoch), event
    assert (owner, epoch) == (row.owner, row.owner_epoch)
    for action in own.values():  # what a change of owner has overtaken is not open
        assert action.owner_epoch == epoch or action.state not in ("proposed", "awaiting_approval"), action


def every_answer_is_new(row: Any, log: Rows) -> None:
    """1: each answer of the bot covers messages that were there and that no earlier one covered."""
    answers = [(e.seq, e.body["answers_through"]) for e in log if e.body.get("answers_through") is not None]
    assert all(through < seq for seq, through in answers)
    assert all(a < b for (_, a), (_, b) in pairwise(answers))
    assert all(through <= row.answered_seq for _, through in answers)


def moves_are_told(log: Rows, own: dict[str, Any], transitions: Rows) -> None:
    """6: what the log tells of an action is what its transitions say, in their order."""
    for operation_id in own:
        moved = [(t.to_state, t.cause) for t in transitions if t.operation_id == operation_id]
        told = [
            (e.body["state"], e.body["cause"])
            for e in log
            if e.kind == "action_state" and e.body["operation_id"] == operation_id
        ]
        untold = [m for m in moved if m[0] in ("proposed", "awaiting_approval")]
        if moved[-1] == ("rejected", "denied") and len(moved) == 2:
            untold.append(moved[-1])  # forbidden at once: never shown to the customer as a proposal
        assert told == moved[len(untold) :]


def moves_are_legal(action: Any, moved: Rows) -> None:
    """7: one chain of legal moves from nothing to the present state; what was withdrawn was never sent."""
    legal = {(a.value, b.value) for a, b in LEGAL_MOVES} | {("", "proposed")}
    assert [t.n for t in moved] == list(range(1, len(moved) + 1))
    assert all((t.from_state, t.to_state) in legal for t in moved)
    assert [t.from_state for t in moved] == ["", *(t.to_state for t in moved[:-1])]
    assert (action.state, action.moves) == (moved[-1].to_state, len(moved))
    assert (action.settled_at is not None) == ActionState(action.state).terminal
    if action.cause in ("withdrawn", "never_sent", "superseded", "expired", "declined"):
        assert action.send_count == 0


def approvals_fit(action: Any, given: Rows) -> None:
    """4: used once, for exactly what was approved, in time, by each role that was needed, and only by a reservation."""
    assert not [a for a in given if a.approver == action.requested_by]
    used = [a for a in given if a.consumed_at is not None]
    bound = (action.payload_digest, action.policy_digest, action.evidence_digest)
    assert all((a.payload_digest, a.policy_digest, a.evidence_digest) == bound for a in used)
    assert all(a.decided_at <= a.consumed_at < a.expires_at and a.voided_at is None for a in used)
    roles = sorted(a.role for a in used)
    assert roles == (sorted(action.required_approvals) if action.reserved_at is not None else [])


def words_are_the_answer_to_a_proposal(log: Rows, given: Rows) -> None:
    """4: consent in words is the customer's very next message after the proposal that it approves."""
    by_seq = {e.seq: e for e in log}
    for approval in given:
        if approval.said_seq is not None:
            said, asked = by_seq[approval.said_seq], by_seq[approval.said_seq - 1]
            assert (said.kind, said.actor, asked.kind) == ("customer_message", approval.approver, "proposal")
            assert asked.body["operation_id"] == approval.operation_id
            assert asked.body["payload_digest"] == approval.payload_digest


def drafts_are_let_out_once(row: Any, log: Rows, drafts: Rows) -> None:
    """1, 3: a draft that was let out is one reply, to exactly its messages; one that waits is of this moment."""
    replies = [(e.body["draft_id"], e.seq, e.body["answers_through"]) for e in log if e.body.get("draft_id")]
    let_out = [(d.draft_id, d.seq, d.through_seq) for d in drafts if d.state in ("accepted", "edited")]
    assert sorted(replies) == sorted(let_out)
    for draft in drafts:
        if draft.state == "waiting":
            assert (row.owner, row.owner_epoch, row.customer_seq) == ("bot", draft.owner_epoch, draft.through_seq)
            assert row.answered_seq < draft.through_seq


def people_have_what_is_theirs(row: Any, waiting: Rows) -> None:
    """One open handoff where a person has the conversation, none elsewhere."""
    assert len(waiting) == (1 if row.owner == "human" else 0)
    assert (row.holder is not None) == any(h.queue_status == "claimed" for h in waiting)
    assert row.holder is None or row.holder == waiting[0].assignee
