"""What staff see of a conversation at a glance beside its log: read in the transaction that reads its row.

Nothing here changes anything.
"""

from datetime import datetime

from domain.teamwork import Glance
from store.assignments import assignee_of, snoozed_until
from store.database import Tx
from store.presence import customer_presence
from store.ratings import last_handoff_rating, ratings_of
from store.tags import tags_of


async def glance(tx: Tx, conversation_id: str, now: datetime) -> Glance:
    """Return it for a conversation that the reader, of the staff, may see."""
    return Glance(
        assignee=await assignee_of(tx, conversation_id),
        snoozed_until=await snoozed_until(tx, conversation_id, now),
        tags=await tags_of(tx, conversation_id),
        customer=await customer_presence(tx, conversation_id, now),
        ratings=await ratings_of(tx, conversation_id),
        handoff_rating=await last_handoff_rating(tx, conversation_id),
    )
