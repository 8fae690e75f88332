"""What the dashboard counts: each query gives what was observed of some figures, by group and day.

Read alone, of one tenant; docs/numbers.md says in words what each figure counts.
"""

from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from domain.base import Noun
from domain.measures import Figure, Observed
from store.database import Database, Tx


class By(StrEnum):
    """What observations are told apart by."""

    INTENT = "intent"
    LANGUAGE = "language"
    STAGE = "stage"
    CHANNEL = "channel"


class Asked(Noun):
    """Which conversations are looked at: those begun in [from_at, to_at); and within what time coming back counts."""

    from_at: datetime
    to_at: datetime
    by: By
    recontact: timedelta
    now: datetime

    @classmethod
    def of_days(cls, first: date, last: date, by: By, recontact: timedelta, now: datetime) -> "Asked":
        """Return what asks for whole days of UTC, both ends included."""
        return cls(
            from_at=datetime.combine(first, time(), UTC),
            to_at=datetime.combine(last + timedelta(days=1), time(), UTC),
            by=by,
            recontact=recontact,
            now=now,
        )


_GROUPS = {
    By.INTENT: "coalesce((SELECT tag FROM tags WHERE conversation_id = c.id AND source = 'bot' ORDER BY id LIMIT 1),"
    " 'not understood')",
    By.LANGUAGE: "c.language",
    By.STAGE: "coalesce(c.stage, 'not known')",
    By.CHANNEL: "c.channel",
}

# The conversations that are looked at, once for all queries below: a table that lives as long as its transaction.
# `said_at` is when somebody last wrote: what closes a conversation later is no word of anybody's. A visitor is another
# one each time.
_TALKS = """
CREATE TEMPORARY TABLE talks ON COMMIT DROP AS
SELECT c.id, c.tenant_id, c.principal_kind, c.principal_id, said.at AS said_at, {group} AS grp,
       (c.created_at AT TIME ZONE 'UTC')::date AS day,
       EXISTS (SELECT FROM handoffs h WHERE h.conversation_id = c.id) AS handed,
       c.customer_seq > 0 AND c.customer_seq <= c.answered_seq
           AND (c.owner = 'closed' OR said.at < :now - CAST(:recontact AS interval)) AS ended,
       c.principal_kind = 'customer' OR c.channel = 'ticket' AS known_again
  FROM conversations c
  LEFT JOIN LATERAL (SELECT e.at FROM events e
                      WHERE e.conversation_id = c.id AND e.part = 0
                        AND e.kind IN ('customer_message', 'bot_reply', 'staff_reply')
                      ORDER BY e.seq DESC LIMIT 1) said ON true
 WHERE c.tenant_id = :tenant AND c.created_at >= :from_at AND c.created_at < :to_at
"""

_SHARES = """
WITH judged AS (
    SELECT t.*, t.ended AND t.known_again AND t.said_at < :now - CAST(:recontact AS interval) AS mature,
           EXISTS (SELECT FROM conversations d
                    WHERE d.tenant_id = t.tenant_id AND d.principal_kind = t.principal_kind
                      AND d.principal_id = t.principal_id AND d.id <> t.id AND d.updated_at > t.said_at
                      AND d.created_at > t.said_at
                      AND d.created_at < t.said_at + CAST(:recontact AS interval)) AS back,
           EXISTS (SELECT FROM actions a WHERE a.conversation_id = t.id
                      AND a.state NOT IN ('confirmed', 'rejected')) AS open
      FROM talks t)
SELECT grp, day, f.figure, count(*) FILTER (WHERE f.hit) AS hits, count(*) AS of
  FROM judged, LATERAL (VALUES
       ('conversations', true, true),
       ('escalations', handed, true),
       ('resolved', NOT handed AND NOT open, ended),
       ('verified_resolution', NOT handed AND NOT open AND NOT back, mature),
       ('recontact', back, mature)) AS f (figure, hit, counts)
 WHERE f.counts
 GROUP BY grp, day, f.figure
"""

# From the customer's last message before it to the bot's first answer: what it says after that answers nothing new.
_REPLY_TIMES = """
SELECT grp, day, 'reply_time' AS figure, array_agg(extract(epoch FROM answered_at - asked_at)::float8) AS values
  FROM (SELECT grp, day, asked_at, min(at) AS answered_at
          FROM (SELECT t.id, t.grp, t.day, e.kind, e.at,
                       max(e.at) FILTER (WHERE e.kind = 'customer_message')
                           OVER (PARTITION BY e.conversation_id ORDER BY e.seq) AS asked_at
                  FROM talks t JOIN events e ON e.conversation_id = t.id
                 WHERE e.part = 0 AND e.kind IN ('customer_message', 'bot_reply', 'proposal')) said
         WHERE kind <> 'customer_message' AND asked_at IS NOT NULL
         GROUP BY id, grp, day, asked_at) answers
 GROUP BY grp, day
"""

_HANDOFFS = """
SELECT t.grp, t.day, f.figure, count(*) FILTER (WHERE f.hit) AS hits, count(*) FILTER (WHERE f.hit IS NOT NULL) AS of,
       array_agg(f.value) FILTER (WHERE f.value IS NOT NULL) AS values
  FROM talks t JOIN handoffs h ON h.conversation_id = t.id
  LEFT JOIN handoff_ratings r ON r.handoff_id = h.id, LATERAL (VALUES
       ('handle_time', NULL::boolean, extract(epoch FROM h.done_at - h.claimed_at)::float8),
       ('human_reply_time', NULL, extract(epoch FROM h.first_reply_at - h.opened_at)::float8),
       ('handoff_score', NULL, r.score::float8),
       ('escalations_right', r.right_to_escalate, NULL)) AS f (figure, hit, value)
 WHERE f.value IS NOT NULL OR f.hit IS NOT NULL
 GROUP BY t.grp, t.day, f.figure
"""

# A tag of the bot's counts once somebody has dealt with the conversation, or it has ended; it was wrong where it was
# taken off and is not there again.
_TAGS = """
SELECT grp, day, 'tag_precision' AS figure, count(*) FILTER (WHERE stands) AS hits, count(*) AS of
  FROM (SELECT t.id, t.grp, t.day, t.ended, g.tag, bool_or(g.removed_at IS NULL) AS stands
          FROM talks t JOIN tags g ON g.conversation_id = t.id
         GROUP BY t.id, t.grp, t.day, t.ended, g.tag
        HAVING bool_or(g.source = 'bot')) tagged
 WHERE ended OR NOT stands
    OR EXISTS (SELECT FROM handoffs h WHERE h.conversation_id = tagged.id AND h.queue_status = 'done')
 GROUP BY grp, day
"""

_DRAFTS = """
SELECT t.grp, t.day, f.figure, count(*) FILTER (WHERE f.hit) AS hits, count(*) AS of
  FROM talks t JOIN drafts d ON d.conversation_id = t.id, LATERAL (VALUES
       ('draft_acceptance', d.state IN ('accepted', 'edited'), d.state IN ('accepted', 'edited', 'rejected')),
       ('draft_change', d.state = 'edited', d.state IN ('accepted', 'edited'))) AS f (figure, hit, counts)
 WHERE f.counts
 GROUP BY t.grp, t.day, f.figure
"""

_RATINGS = """
SELECT t.grp, t.day, f.figure, count(*) FILTER (WHERE r.score >= 4) AS hits, count(*) AS of,
       array_agg(r.score::float8) AS values
  FROM talks t JOIN answer_ratings r ON r.conversation_id = t.id, (VALUES ('csat'), ('csat_score')) AS f (figure)
 GROUP BY t.grp, t.day, f.figure
"""

_ACTIONS = """
SELECT t.grp, t.day, f.figure, count(*) FILTER (WHERE f.hit) AS hits, count(*) AS of
  FROM talks t JOIN actions a ON a.conversation_id = t.id, LATERAL (
       SELECT EXISTS (SELECT FROM cases k WHERE k.tenant_id = a.tenant_id AND k.operation_id = a.operation_id
                         AND k.kind IN ('effect_without_row', 'row_without_effect', 'other_amount')) AS wrong) w,
       LATERAL (VALUES
       ('refund_errors', w.wrong, a.state = 'confirmed' AND a.kind LIKE 'refund%'),
       ('policy_violations', w.wrong, a.state = 'confirmed'),
       ('policy_denials', a.state = 'rejected' AND a.cause = 'denied', true)) AS f (figure, hit, counts)
 WHERE f.counts
 GROUP BY t.grp, t.day, f.figure
"""

# Zero where no model was asked: that is what such a conversation costs.
_COSTS = """
SELECT grp, day, 'cost' AS figure, array_agg(micros) AS values
  FROM (SELECT t.grp, t.day, coalesce(sum(m.cost_micros), 0)::float8 AS micros
          FROM talks t LEFT JOIN model_calls m ON m.conversation_id = t.id
         GROUP BY t.id, t.grp, t.day) costs
 GROUP BY grp, day
"""

_WAITING = """
SELECT extract(epoch FROM :now - opened_at)::float8 AS age
  FROM handoffs WHERE tenant_id = :tenant AND queue_status = 'waiting'
"""

_OBSERVED = (_SHARES, _REPLY_TIMES, _HANDOFFS, _TAGS, _DRAFTS, _RATINGS, _ACTIONS, _COSTS)


async def observations(db: Database, tenant_id: str, asked: Asked) -> list[Observed]:
    """Return what was observed of every figure in the tenant's conversations, by group and day."""
    told = {
        "tenant": tenant_id,
        "from_at": asked.from_at,
        "to_at": asked.to_at,
        "now": asked.now,
        "recontact": asked.recontact,
    }
    async with db.transaction(tenant_id) as tx:
        await tx.execute(sa.text(_TALKS.format(group=_GROUPS[asked.by])), told)
        await tx.execute(sa.text("CREATE INDEX ON talks (id)"))
        await tx.execute(sa.text("ANALYZE talks"))
        found = [await _observed(tx, query, told) for query in _OBSERVED]
    return [one for observed in found for one in observed]


async def queue_ages(db: Database, tenant_id: str, now: datetime) -> list[float]:
    """Return for how many seconds each handoff has waited that nobody has taken."""
    async with db.transaction(tenant_id) as tx:
        ages = await tx.execute(sa.text(_WAITING), {"tenant": tenant_id, "now": now})
        return [float(age) for age in ages.scalars()]


async def _observed(tx: Tx, query: str, told: dict[str, Any]) -> list[Observed]:
    rows = (await tx.execute(sa.text(query), told)).mappings()
    return [
        Observed(
            figure=Figure(row["figure"]),
            group=row["grp"],
            day=row["day"],
            hits=row.get("hits") or 0,
            of=row.get("of") or 0,
            values=tuple(row.get("values") or ()),
        )
        for row in rows
    ]


async def cost_currency(db: Database, tenant_id: str, asked: Asked) -> str | None:
    """Return the one currency that models were paid in; None where there was none, or several."""
    query = "SELECT DISTINCT currency FROM model_calls WHERE tenant_id = :tenant AND at >= :from_at LIMIT 2"
    async with db.transaction(tenant_id) as tx:
        found = list((await tx.execute(sa.text(query), {"tenant": tenant_id, "from_at": asked.from_at})).scalars())
    return str(found[0]) if len(found) == 1 else None
