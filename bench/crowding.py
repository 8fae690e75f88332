"""A tenant with a past: conversations, their logs and tags, and handoffs that wait, written straight into the tables.

What a page has to read through; nothing of it takes part in anything.
"""

import psycopg

TENANT = "acme-market"

# Five in a thousand are of the last minutes; the rest begin over the last thirteen days.
_CONVERSATIONS = """
INSERT INTO conversations (id, tenant_id, principal_kind, principal_id, channel, language, created_at, updated_at)
SELECT 'crowd-' || n, %(tenant)s, 'customer', 'crowd-customer-' || n %% %(customers)s, 'chat',
       (ARRAY['en', 'de', 'es', 'fr', 'pl', 'ja'])[1 + n %% 6], at, at
  FROM (SELECT n, now() - (n %% 18720) * interval '1 minute' AS at FROM generate_series(1, %(conversations)s) n) begun
"""
_SAID = """
INSERT INTO events (tenant_id, conversation_id, kind, actor, at, body)
SELECT c.tenant_id, c.id, said.kind, said.actor, c.created_at + said.after * interval '1 second', said.body
  FROM conversations c, LATERAL (VALUES
       ('customer_message', c.principal_kind || ':' || c.principal_id, 0, '{"text": "Where is my order?"}'::jsonb),
       ('bot_reply', 'bot:interlock', 1 + length(c.id) %% 3,
        '{"text": "It is on its way.", "citations": [], "automated": true}'),
       ('customer_message', c.principal_kind || ':' || c.principal_id, 40, '{"text": "Thank you"}'),
       ('bot_reply', 'bot:interlock', 41, '{"text": "You are welcome.", "citations": [], "automated": true}')
       ) AS said (kind, actor, after, body)
 WHERE c.tenant_id = %(tenant)s AND c.id LIKE 'crowd-%%'
 ORDER BY c.id, said.after
"""
_TAGS = """
INSERT INTO tags (tenant_id, conversation_id, tag, source, added_by)
SELECT tenant_id, id, (ARRAY['order_status', 'refund_request', 'cancel_order'])[1 + length(id) %% 3],
       'bot', 'bot:interlock'
  FROM conversations WHERE tenant_id = %(tenant)s AND id LIKE 'crowd-%%'
"""
_ANSWERED = """
UPDATE conversations SET answered_seq = version, consumed_seq = version
 WHERE tenant_id = %(tenant)s AND id LIKE 'crowd-%%'
"""
_HANDED = """
UPDATE conversations SET owner = 'human', owner_epoch = owner_epoch + 1
 WHERE id IN (SELECT id FROM conversations WHERE tenant_id = %(tenant)s AND id LIKE 'crowd-%%'
               ORDER BY created_at DESC LIMIT %(handoffs)s)
"""
_HANDOFFS = """
INSERT INTO handoffs (id, tenant_id, conversation_id, request_id, reason, goal, through_seq, open_from_seq, opened_at,
                      urgency)
SELECT 'handoff-' || id, tenant_id, id, 'crowd',
       (ARRAY['handoff_requested', 'out_of_scope', 'high_risk'])[1 + length(id) %% 3],
       'order_status', version, 0, created_at + interval '1 minute', length(id) %% 4
  FROM conversations WHERE tenant_id = %(tenant)s AND owner = 'human' AND id LIKE 'crowd-%%'
"""


def crowd(owner_url: str, conversations: int, handoffs: int) -> None:
    """Fill the demo's marketplace. Raises psycopg.Error."""
    told = {"tenant": TENANT, "conversations": conversations, "handoffs": handoffs, "customers": conversations // 5}
    with psycopg.connect(owner_url, autocommit=True) as owner:
        for query in (_CONVERSATIONS, _SAID, _TAGS, _ANSWERED, _HANDED, _HANDOFFS):
            owner.execute(query.encode(), told)
        owner.execute("ANALYZE")
