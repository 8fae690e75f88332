"""A busy desk in rows: conversations, open handoffs, some taken, some answered, and what was taken lately.

Written as the product's own statements leave them; for a database of the bench alone.
"""

import psycopg

from bench.scratch import Urls

CONVERSATIONS, HANDOFFS, TAKEN = 10_000, 2_000, 200
TENANT = "bench"

_FILL = (
    """INSERT INTO conversations (id, tenant_id, principal_kind, principal_id, language)
       SELECT 'c' || n, %(tenant)s, 'customer', 'customer-' || mod(n, 3000),
              (ARRAY['en', 'de', 'es', 'fr'])[1 + mod(n, 4)]
         FROM generate_series(1, %(conversations)s) n""",
    """INSERT INTO events (tenant_id, conversation_id, kind, actor, body)
       SELECT %(tenant)s, 'c' || n, 'customer_message', 'customer:x', '{"text": "Where is my order?"}'
         FROM generate_series(1, %(conversations)s) n, generate_series(1, 3) m""",
    """UPDATE conversations SET owner = 'human', owner_epoch = 2,
              holder = CASE WHEN right(id, 1) = '0' THEN 'agent-1' END
        WHERE tenant_id = %(tenant)s AND substr(id, 2)::int <= %(handoffs)s""",
    """INSERT INTO handoffs (id, tenant_id, conversation_id, request_id, reason, goal, queue_status, assignee,
              through_seq, open_from_seq, opened_at, claimed_at, urgency, skill)
       SELECT 'h' || n, %(tenant)s, 'c' || n, 'r' || n, 'customer_requested', 'refund_request',
              CASE WHEN mod(n, 10) = 0 THEN 'claimed' ELSE 'waiting' END,
              CASE WHEN mod(n, 10) = 0 THEN 'agent-1' END, 3, 0,
              now() - n * interval '40 seconds', CASE WHEN mod(n, 10) = 0 THEN now() - n * interval '20 seconds' END,
              1 + mod(n, 3), (ARRAY['payments', 'orders', NULL])[1 + mod(n, 3)]
         FROM generate_series(1, %(handoffs)s) n""",
    """INSERT INTO events (tenant_id, conversation_id, kind, actor, body)
       SELECT %(tenant)s, 'c' || n, 'staff_reply', 'staff:agent-1', '{"text": "Let me look."}'
         FROM generate_series(10, %(handoffs)s, 10) n""",
    """INSERT INTO tags (tenant_id, conversation_id, tag, source, added_by)
       SELECT %(tenant)s, 'c' || n, 'refund_request', 'bot', 'bot:interlock' FROM generate_series(1, %(handoffs)s) n""",
    """INSERT INTO handoffs (id, tenant_id, conversation_id, request_id, reason, goal, queue_status, through_seq,
              open_from_seq, opened_at, claimed_at, done_at)
       SELECT 'd' || n, %(tenant)s, 'c' || (%(handoffs)s + n), 'd' || n, 'customer_requested', 'refund_request',
              'done', 3, 0, now() - n * interval '1 minute', now() - n * interval '50 seconds',
              now() - n * interval '40 seconds'
         FROM generate_series(1, %(taken)s) n""",
)


def fill(urls: Urls) -> None:
    """Fill the tenant, which is there and has its staff."""
    values = {"tenant": TENANT, "conversations": CONVERSATIONS, "handoffs": HANDOFFS, "taken": TAKEN}
    with psycopg.connect(urls.owner) as connection:
        for statement in _FILL:
            connection.execute(statement, values)
    with psycopg.connect(urls.owner, autocommit=True) as connection:
        connection.execute("ANALYZE")
