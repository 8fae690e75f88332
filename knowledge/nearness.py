"""How near the sentences of one language are to each other in meaning, beside how near any two of its sentences are.

Pure but for the model of the embeddings; without one, or without a measure for the language, nothing is known.
"""

from collections.abc import Sequence

import numpy as np

from knowledge.seeds import seed_articles
from language.embedding import Embedder, Matrix, Vector
from language.passages import sentences

_SENTENCES_MIN = 20  # of a language that the seeds are not written in: fewer show no middle
_MIDDLES: dict[tuple[str, str], Vector | None] = {}  # by model and language: made once, as it takes half a second


class Nearness:
    """Cosines of embeddings from the middle of the language, since a model puts what is of one language together."""

    def __init__(self, embedder: Embedder | None, language: str) -> None:
        self._embedder = embedder
        self._language = language
        self._kept: Matrix | None = None

    def keep(self, texts: Sequence[str]) -> None:
        """Embed the texts that are asked about by their numbers."""
        if self._embedder is None or not texts:
            return
        vectors = self._embedder.embed_passages(texts)
        middle = _middle_of_seeds(self._embedder, self._language)
        if middle is None and len(texts) >= _SENTENCES_MIN:
            middle = vectors.mean(axis=0)
        if middle is not None:
            apart = vectors - middle
            self._kept = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-6)

    def of(self, one: int, other: int) -> float | None:
        """Return how near two of the texts are, from -1 to 1, or None where that is not known."""
        return None if self._kept is None else float(self._kept[one] @ self._kept[other])


def _middle_of_seeds(embedder: Embedder, language: str) -> Vector | None:
    """Return the mean of what the seeds say in a language; None in another than theirs."""
    known = embedder.name, language
    if known not in _MIDDLES:
        texts = [f"{a.title}\n{text}" for a in seed_articles() if a.language == language for text in sentences(a.body)]
        _MIDDLES[known] = embedder.embed_passages(texts).mean(axis=0) if texts else None
    return _MIDDLES[known]
