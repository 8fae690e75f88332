"""The knowledge as people of the staff search it: the same search as the bot's.

The model of the embeddings is loaded when somebody first searches, since most processes that could never do.
"""

import asyncio

from activities.library import Library
from domain.knowledge import Passage
from domain.retrieval import KnowledgeQuery
from language.embedding import embedder
from store.database import Database


class Searching:
    """Holds the database and, once somebody has searched, a library over it."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._library: Library | None = None

    languages = staticmethod(Library.languages)

    async def search(self, tenant_id: str, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Return what fits the query, likeliest first, each with why."""
        if self._library is None:
            self._library = Library(self._db, await asyncio.to_thread(embedder))
        return await self._library.search(tenant_id, query)
