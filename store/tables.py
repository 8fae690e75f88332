"""The tables as SQLAlchemy Core sees them: names and types; their constraints live in the migrations.

A test compares this page with a migrated database, column by column.
"""

from sqlalchemy import REAL, BigInteger, Boolean, Column, Date, DateTime, Integer, MetaData, Table, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

metadata = MetaData()
At = DateTime(timezone=True)


def _table(name: str, *columns: Column[object]) -> Table:
    return Table(name, metadata, *columns)


def _text(*names: str) -> list[Column[object]]:
    return [Column(name, Text) for name in names]


def _at(*names: str) -> list[Column[object]]:
    return [Column(name, At) for name in names]


def _int(*names: str) -> list[Column[object]]:
    return [Column(name, Integer) for name in names]


def _json(*names: str) -> list[Column[object]]:
    return [Column(name, JSONB) for name in names]


def _serial(name: str) -> Column[object]:
    return Column(name, BigInteger, primary_key=True, autoincrement=True)


policy_bundles = _table(
    "policy_bundles",
    *_text("digest", "bundle_id", "version", "tenant_id", "base_digest"),
    *_json("manifest", "files"),
    *_at("published_at"),
)
policy_publications = _table(
    "policy_publications",
    *_text("tenant_id", "digest", "cause", "published_by", "note"),
    *_int("n"),
    *_at("effective_from", "effective_until", "published_at"),
)
tenants = _table(
    "tenants",
    *_text("id", "name", "kind", "stage"),
    Column("dispatch_halted", Boolean),
    Column("halted_kinds", ARRAY(Text)),
    *_at("created_at"),
)
staff = _table(
    "staff",
    *_text("tenant_id", "id", "name", "role"),
    *_at("revoked_at"),
    Column("skills", ARRAY(Text)),
    Column("languages", ARRAY(Text)),
)
customers = _table("customers", *_text("tenant_id", "id", "status"), *_at("first_seen_at"))
conversations = _table(
    "conversations",
    *_text("id", "tenant_id", "principal_kind", "principal_id", "channel", "language", "owner", "holder", "stage"),
    *_int("owner_epoch", "version", "customer_seq", "answered_seq", "consumed_seq"),
    *_at("created_at", "updated_at"),
)
events = _table(
    "events",
    *_text("tenant_id", "conversation_id", "kind", "actor", "client_message_id", "step_id"),
    *_int("seq", "part"),
    Column("event_id", Uuid(as_uuid=False)),
    *_at("at"),
    *_json("body"),
)
ownership_requests = _table(
    "ownership_requests",
    *_text("tenant_id", "conversation_id", "request_id", "principal", "act"),
    *_json("result"),
    *_at("at"),
)
outbox = _table(
    "outbox",
    _serial("id"),
    *_text("tenant_id", "conversation_id", "operation_id", "event_id"),
    *_int("event_seq", "owner_epoch", "attempts"),
    *_at("created_at", "next_attempt_at", "delivered_at"),
)
evidence = _table(
    "evidence",
    *_text("evidence_id", "tenant_id", "conversation_id", "source", "subject"),
    *_json("value"),
    *_at("observed_at"),
    *_int("max_age_s"),
)
actions = _table(
    "actions",
    *_text("operation_id", "tenant_id", "conversation_id", "customer_id", "kind", "resource", "currency"),
    Column("amount_minor", BigInteger),
    *_json("payload", "required_approvals"),
    *_text("payload_digest", "state", "cause", "requested_by", "policy_digest", "evidence_id", "evidence_digest"),
    *_text("language", "reserved_step", "external_id"),
    *_int("owner_epoch", "send_count", "moves"),
    *_at("created_at", "expires_at", "reserved_at", "sent_at", "last_sent_at", "settled_at"),
    *_at("asked_at", "reminded_at", "escalated_at"),
)
transitions = _table(
    "transitions",
    *_text("tenant_id", "operation_id", "from_state", "to_state", "cause", "actor"),
    *_int("n"),
    *_at("at"),
)
legal_moves = _table("legal_moves", *_text("from_state", "to_state"))
approvals = _table(
    "approvals",
    _serial("id"),
    *_text("tenant_id", "operation_id", "approver", "role", "decision"),
    *_text("payload_digest", "policy_digest", "evidence_digest", "note", "staff_role"),
    *_at("decided_at", "expires_at", "voided_at", "consumed_at"),
    *_int("said_seq"),
)
approval_claims = _table(
    "approval_claims", *_text("tenant_id", "operation_id", "staff_id"), *_at("claimed_at", "until_at")
)
handoffs = _table(
    "handoffs",
    *_text("id", "tenant_id", "conversation_id", "request_id", "reason", "note", "goal", "queue_status", "assignee"),
    *_int("through_seq", "open_from_seq"),
    *_text("evidence_id"),
    *_at("opened_at", "claimed_at", "done_at", "first_reply_at"),
    *_int("urgency"),
    *_text("urgency_why", "skill"),
)
cases = _table(
    "cases",
    *_text("id", "tenant_id", "conversation_id", "operation_id", "kind", "queue_status", "assignee"),
    *_json("detail"),
    *_at("opened_at", "done_at"),
)
articles = _table(
    "articles",
    *_text("tenant_id", "slug", "language", "audience", "title", "body", "kind", "reviewed_by"),
    *_int("version"),
    Column("product_versions", ARRAY(Text)),
    *_at("effective_from", "effective_until", "imported_at"),
)
passages = _table(
    "passages",
    *_text("tenant_id", "slug", "language", "text", "embedder"),
    *_int("version", "position"),
    Column("words", TSVECTOR),
    Column("embedding", ARRAY(REAL)),  # or a vector of pgvector, which is written and read as an array too
)
usage = _table("usage", *_text("tenant_id", "measure"), Column("day", Date), Column("amount", BigInteger))
idempotency_keys = _table(
    "idempotency_keys",
    *_text("tenant_id", "principal", "key", "request_digest"),
    *_int("status"),
    *_json("answer"),
    *_at("created_at"),
)
audit = _table(
    "audit",
    _serial("id"),
    *_text("tenant_id", "kind", "actor", "conversation_id", "operation_id", "body", "hash"),
    Column("n", BigInteger),
    *_at("at"),
)
audit_heads = _table("audit_heads", *_text("tenant_id", "hash"), Column("n", BigInteger))
model_calls = _table(
    "model_calls",
    *_text("call_id", "tenant_id", "conversation_id", "step_id", "role", "route", "endpoint", "model", "prompt"),
    *_text("outcome", "label", "currency"),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cost_micros", BigInteger),
    *_int("answered_seq", "duration_ms", "tool_steps"),
    *_at("at"),
)
tags = _table(
    "tags",
    _serial("id"),
    *_text("tenant_id", "conversation_id", "tag", "source", "added_by", "removed_by"),
    *_at("added_at", "removed_at"),
)
notes = _table("notes", *_text("tenant_id", "conversation_id", "note_id", "author", "text"), *_at("at"))
assignments = _table(
    "assignments", *_text("conversation_id", "tenant_id", "staff_id", "assigned_by"), *_at("assigned_at")
)
snoozes = _table(
    "snoozes",
    *_text("conversation_id", "tenant_id", "snoozed_by"),
    *_int("customer_seq"),
    *_at("until_at", "snoozed_at"),
)
presences = _table("presences", *_text("tenant_id", "conversation_id", "principal", "state"), *_at("at", "until_at"))
seen = _table("seen", *_text("conversation_id", "tenant_id"), *_int("seq"), *_at("seen_at"))
saved_views = _table(
    "saved_views",
    *_text("tenant_id", "id", "name", "owner"),
    *_json("filters"),
    Column("shared", Boolean),
    *_at("created_at"),
)
answer_ratings = _table(
    "answer_ratings",
    *_text("tenant_id", "conversation_id", "comment"),
    *_int("seq", "score"),
    *_at("rated_at", "changed_at"),
)
handoff_ratings = _table(
    "handoff_ratings",
    *_text("tenant_id", "handoff_id", "rated_by", "note"),
    *_int("score"),
    Column("right_to_escalate", Boolean),
    *_at("rated_at"),
)
policy_backtests = _table("policy_backtests", *_text("id", "tenant_id"), *_json("report"), *_at("kept_at"))
tenant_secrets = _table("tenant_secrets", *_text("tenant_id", "name", "sealed"), *_at("made_at"))
tickets = _table(
    "tickets",
    *_text("tenant_id", "ticket_id", "conversation_id", "requester_id", "principal_kind", "principal_id", "subject"),
    *_at("created_at", "closed_at"),
)
ticket_copies = _table(
    "ticket_copies", *_text("tenant_id", "conversation_id", "message_id", "author_id", "text"), *_at("at")
)
ticket_posts = _table(
    "ticket_posts",
    *_text("tenant_id", "webhook_id", "body_digest", "conversation_id"),
    *_int("seq"),
    *_at("received_at"),
)
webhooks = _table(
    "webhooks",
    *_text("tenant_id", "id", "url", "made_by"),
    Column("types", ARRAY(Text)),
    Column("active", Boolean),
    *_at("made_at", "removed_at", "busy_until"),
)
webhook_deliveries = _table(
    "webhook_deliveries",
    _serial("id"),
    Column("message_id", Uuid(as_uuid=False)),
    *_text("tenant_id", "webhook_id", "conversation_id", "type", "state", "last_fault"),
    Column("tag_id", BigInteger),
    *_int("seq", "attempts", "last_status"),
    Column("tag_added", Boolean),
    Column("unless_seen", Boolean),
    *_at("created_at", "next_attempt_at", "settled_at"),
)
desks = _table("desks", *_text("tenant_id", "set_by"), *_int("version"), *_json("document"), *_at("set_at"))
handoff_claims = _table("handoff_claims", *_text("tenant_id", "handoff_id", "staff_id"), *_at("claimed_at", "until_at"))
drafts = _table(
    "drafts",
    *_text("draft_id", "tenant_id", "conversation_id", "step_id", "language", "intent", "author", "text"),
    *_text("draft_digest", "state", "cause", "decided_by", "request_id", "reason", "said"),
    *_int("owner_epoch", "answered_seq", "through_seq", "change_permille", "seq"),
    *_json("segments", "behind"),
    *_at("made_at", "ended_at"),
)
