"""Whether a text says or promises that something was, is being or will be done: read by its meaning, in any language.

Calibrated to miss next to nothing, since a false alarm costs no more than another draft; it knows no words of its own.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from language.embedding import Embedder, Matrix, embedder

HEAD = Path(__file__).parent / "data" / "heads" / "claims.npz"
SENTENCES_MAX = 24  # of one text; a longer one is a claim, since its end would go unread
SENTENCE_CHARS_MAX = 300  # a longer one is a claim too: it would take long to read, and its end count for little
_SENTENCE = re.compile(r"[^.!?。！？؟।\n]+(?:[.!?。！？؟।]+|\n|$)|\n")
_WORDS_APART = re.compile(r"(?<=\d)[.](?=\s?\d)|(?<=\b\d)[.](?=\s\w)|(?<=\b\d\d)[.](?=\s\w)|(?<=\b[A-Za-z])[.]")
_HELD = "\u2024"  # stands in for a full stop that ends nothing
_LETTERS_MIN = 2

Floats = NDArray[np.float64]


class ClaimsHead:
    """The examples as `rows` of one embedder, the vote of each, and the vote from which on a sentence claims.

    `digest` names the examples that they were learned from.

    The nearer an example is to what is read, the more its vote counts (a Gaussian kernel over standardised rows).
    """

    def __init__(self, over: Embedder, rows: Matrix, votes: Floats, threshold: float, digest: str) -> None:
        self.over, self.rows, self.votes, self.threshold = over, rows.astype(np.float32), votes, threshold
        self.digest = digest
        self._mean, self._spread = standard_of(self.rows)
        self._standard = (self.rows - self._mean) / self._spread

    def vote(self, text: str) -> float:
        """Return the vote on the likeliest sentence of `text`, above 0 for rather a claim; -inf for no words."""
        read = sentences_of(text)
        if len(read) > SENTENCES_MAX or any(len(sentence) > SENTENCE_CHARS_MAX for sentence in read):
            return float("inf")
        if not read:
            return float("-inf")
        asked = np.stack([self.over.embed_query(s) for s in read])
        return float((nearness((asked - self._mean) / self._spread, self._standard) @ self.votes).max())

    def claims(self, text: str, _language: str) -> bool:
        """Return whether `text` claims that something was, is being or will be done, whatever its language."""
        return self.vote(text) >= self.threshold


def standard_of(rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return the mean and the spread of each column."""
    return rows.mean(axis=0), rows.std(axis=0) + np.float32(1e-6)


def nearness(asked: Matrix, known: Matrix) -> Floats:
    """Return how near each of `asked` (rows) is to each of `known` (columns), from 0 to 1; both standardised."""
    one, other = asked.astype(np.float64), known.astype(np.float64)
    apart = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2 * one @ other.T
    near: Floats = np.exp(-np.maximum(apart, 0.0) / other.shape[1])
    return np.hstack([near, np.ones((len(near), 1))])  # the last vote is everybody's


def sentences_of(text: str) -> list[str]:
    """Return the sentences of `text` that hold any letters."""
    held = _WORDS_APART.sub(_HELD, text)
    parts = (m[0].replace(_HELD, ".").strip() for m in _SENTENCE.finditer(held))
    return [p for p in parts if sum(c.isalpha() for c in p) >= _LETTERS_MIN]


def save(path: Path, head: ClaimsHead) -> None:
    """Write `head` to `path`, its rows in half precision; whoever reads meanwhile finds the old one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new.npz")
    np.savez_compressed(
        fresh,
        allow_pickle=False,
        over=np.array(head.over.name),
        rows=head.rows.astype(np.float16),
        votes=head.votes.astype(np.float32),
        threshold=np.float64(head.threshold),
        digest=np.array(head.digest),
    )
    fresh.replace(path)


def load(path: Path, over: Embedder) -> ClaimsHead:
    """Return the head kept in `path`. Raises FileNotFoundError, or ValueError where it is over another embedder."""
    with np.load(path, allow_pickle=False) as kept:
        if str(kept["over"]) != over.name:
            raise ValueError(f"{path.name} was trained over {kept['over']}, and {over.name} is installed.")
        votes, threshold = kept["votes"].astype(np.float64), float(kept["threshold"])
        return ClaimsHead(over, kept["rows"], votes, threshold, str(kept["digest"]))


@cache
def claims_head() -> ClaimsHead | None:
    """Return the head, loaded once, or None where the `embeddings` extra is not installed."""
    over = embedder()
    return load(HEAD, over) if over else None
