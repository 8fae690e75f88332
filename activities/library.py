"""The knowledge of a tenant as a turn asks for it: searched anew each time, its passages kept by version.

What a reader may read at that moment is decided in the database every time; only the words of a version, which never
change, are remembered.
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime

from domain.knowledge import Audience, Passage, PassageKey, PassageRef
from domain.retrieval import KnowledgeQuery
from language.embedding import Embedder, sparingly
from language.searchable import asked_words, question_in
from language.tongues import nearest_first
from language.turnstile import Busy
from store.database import Database
from store.knowledge import chosen, passages_by_ref, search_hits

KEPT_MAX = 4_096  # passages, of a few hundred characters each
PASSAGES_PER_TURN = 3
EMBEDDING_WAIT_S = 0.5


class Library:
    """Holds the database, the model of the embeddings where there is one, and the passages already read."""

    def __init__(self, db: Database, embedder: Embedder | None, kept_max: int = KEPT_MAX) -> None:
        self._db = db
        self._embedder = embedder
        self._kept_max = kept_max
        self._kept: dict[tuple[str, PassageKey], Passage] = {}

    async def find(
        self,
        tenant_id: str,
        text: str,
        language: str,
        audience: Audience,
        at: datetime,
        product_version: str | None = None,
        also: Sequence[str] = (),
    ) -> tuple[Passage, ...]:
        """Return what answers `text` likeliest, first the likeliest; nothing for a text without words.

        Only in `language`, or for whoever can write it anew, in one of `also` where a page is not in that.
        """
        if not text.strip():
            return ()
        query = KnowledgeQuery(
            text=text,
            languages=(language, *(other for other in also if other != language)),
            reader=audience,
            at=at,
            product_version=product_version,
            limit=PASSAGES_PER_TURN,
        )
        return await self.search(tenant_id, query)

    @staticmethod
    def languages(text: str, known: Iterable[str]) -> tuple[str, ...]:
        """Return the languages `known`, in the order in which to search for `text`: its own first."""
        return nearest_first(text, known)

    async def search(self, tenant_id: str, query: KnowledgeQuery) -> tuple[Passage, ...]:
        """Return what fits the query, likeliest first, each with why."""
        asked = question_in(query.text)
        if not any(c.isalpha() for c in asked):
            return ()
        embedding = await asyncio.to_thread(self._embedded, asked)
        name = self._embedder.name if self._embedder is not None and embedding is not None else None
        found = await search_hits(self._db, tenant_id, query, asked_words(asked), embedding, name)
        known = await self._known(tenant_id, [f.ref for f in found])
        return tuple(chosen(known[f.hit.key], f) for f in found if f.hit.key in known)

    def _embedded(self, asked: str) -> list[float] | None:
        """The vector of a question; None without a model, and while others keep it busy: words alone find much."""
        if self._embedder is None:
            return None
        try:
            with sparingly(EMBEDDING_WAIT_S):
                return [float(x) for x in self._embedder.embed_query(asked)]
        except Busy:
            return None

    async def recall(self, tenant_id: str, refs: Sequence[PassageRef]) -> tuple[Passage, ...]:
        """Return the passages of `refs` that there are, in their order, each as certain as its reference says."""
        known = await self._known(tenant_id, refs)
        return tuple(known[r.key].model_copy(update={"certain": r.certain}) for r in refs if r.key in known)

    async def _known(self, tenant_id: str, refs: Sequence[PassageRef]) -> dict[PassageKey, Passage]:
        """The passages by key, read where they have not been yet; turns at once take nothing from one another."""
        known = {r.key: kept for r in refs if (kept := self._kept.get((tenant_id, r.key)))}
        for passage in await passages_by_ref(self._db, tenant_id, [r for r in refs if r.key not in known]):
            known[passage.ref.key] = passage
            self._keep(tenant_id, passage)
        return known

    def _keep(self, tenant_id: str, passage: Passage) -> None:
        self._kept[tenant_id, passage.ref.key] = passage
        if len(self._kept) > self._kept_max:
            del self._kept[next(iter(self._kept))]
