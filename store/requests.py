"""First answers of what people ask of a conversation under ids of their own, so that a repeat is answered from them.

Inside the transactions that act on the requests, which hold the conversation's row.
"""

from typing import Any

import sqlalchemy as sa

from domain.principal import VerifiedPrincipal
from domain.refusal import RequestConflict
from store import tables as t
from store.database import Tx
from store.pipeline import Row

_q = t.ownership_requests.c


async def first_answer(
    tx: Tx, conversation_id: str, principal: VerifiedPrincipal, request_id: str, act: str
) -> dict[str, Any] | None:
    """Return what was answered when this was asked first, or None. Raises RequestConflict for another kind of act."""
    query = sa.select(_q.act, _q.result).where(
        _q.conversation_id == conversation_id, _q.principal == principal.key, _q.request_id == request_id
    )
    prior = (await tx.execute(query)).one_or_none()
    if prior is None:
        return None
    if prior.act != act:
        raise RequestConflict(f"This request_id was used for a {prior.act}; use a new one for a {act}.")
    return dict(prior.result)


async def record_answer(
    tx: Tx, row: Row, principal: VerifiedPrincipal, request_id: str, act: str, result: dict[str, Any]
) -> None:
    """Keep the answer to a request, refusals included where a late repeat must not be answered otherwise."""
    await tx.execute(
        sa.insert(t.ownership_requests).values(
            tenant_id=row.tenant_id,
            conversation_id=row.id,
            request_id=request_id,
            principal=principal.key,
            act=act,
            result=result,
        )
    )
