"""Training the head that finds claims from our own examples: the same votes each time, and numpy alone.

The threshold is chosen on examples whose language was left out, and but for the files of kinds their meaning too.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.base import Noun, digest_of
from language.claims import ClaimsHead, Floats, nearness, standard_of
from language.embedding import Embedder, Matrix

EXAMPLES_DIR = Path(__file__).parent / "data" / "claims"
RECALL = 0.98  # of the claims left out, for which the threshold is chosen; the words of `policy` find more
_SHARPNESS = 100.0  # the inverse of the weight that keeps votes small
_STEPS_MAX, _SETTLED = 20, 1e-4
_LANGUAGE_PARTS, _MEANING_PARTS = 4, 4


class Example(Noun):
    """One sentence of a draft, and whether it claims something.

    `place`: its translations stand at the same, and in files of kinds the like of it in other scenes at others.
    """

    language: str
    place: int
    text: str
    claims: bool


class LeftOut(Noun):
    """How well a language is read by what was learned from others, at other places."""

    language: str
    claims: int
    found: int
    others: int
    false_alarms: int


class Trained:
    """A head and how it was measured."""

    def __init__(self, head: ClaimsHead, left_out: tuple[LeftOut, ...]) -> None:
        self.head, self.left_out = head, left_out


def examples() -> tuple[Example, ...]:
    """Return all examples, by file: `<language>.jsonl`, and `kinds.<language>.jsonl` of what is easily taken amiss."""
    found, kinds = [], sorted(EXAMPLES_DIR.glob("kinds.*.jsonl"))
    for path in sorted(EXAMPLES_DIR.glob("*.jsonl")):
        begin = kinds.index(path) if path in kinds else 0
        places = Counter({True: begin, False: begin})
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.append(Example(language=path.stem.rpartition(".")[2], place=places[row["claims"]], **row))
            places[row["claims"]] += 1
    return tuple(found)


def digest_over(known: Sequence[Example]) -> str:
    """Return the digest that names exactly these examples, in this order."""
    return digest_of([example.model_dump(mode="json") for example in known])


def train(over: Embedder, known: Sequence[Example]) -> Trained:
    """Return the head trained on `known`, with its measure on each language by what was learned without it."""
    rows: Matrix = np.stack([over.embed_query(e.text) for e in known]).astype(np.float16).astype(np.float32)
    truth = np.array([float(e.claims) for e in known])
    languages = sorted({e.language for e in known})
    of = np.array([languages.index(e.language) for e in known])
    unseen = _left_out(rows, truth, of, np.array([e.place for e in known]))
    threshold = round(float(np.quantile(unseen[truth == 1], 1 - RECALL, method="lower")), 4)
    head = ClaimsHead(over, rows, _fit(rows, truth), threshold, digest_over(known))
    return Trained(
        head, tuple(_measure(name, unseen[of == n], truth[of == n], threshold) for n, name in enumerate(languages))
    )


def _left_out(rows: Matrix, truth: Floats, of: NDArray[np.int_], places: NDArray[np.int_]) -> Floats:
    """The vote on each example by those of other languages and other places."""
    told = np.zeros(len(rows))
    for tongue in range(_LANGUAGE_PARTS):
        for meaning in range(_MEANING_PARTS):
            spoken, meant = of % _LANGUAGE_PARTS == tongue, places % _MEANING_PARTS == meaning
            known, asked = ~spoken & ~meant, spoken & meant
            mean, spread = standard_of(rows[known])
            near = nearness((rows[asked] - mean) / spread, (rows[known] - mean) / spread)
            told[asked] = near @ _fit(rows[known], truth[known])
    return told


def _measure(language: str, told: Floats, truth: Floats, threshold: float) -> LeftOut:
    claims = truth == 1
    return LeftOut(
        language=language,
        claims=int(claims.sum()),
        found=int((told[claims] >= threshold).sum()),
        others=int((~claims).sum()),
        false_alarms=int((told[~claims] >= threshold).sum()),
    )


def _fit(rows: Matrix, truth: Floats) -> Floats:
    """Logistic regression over the nearness of examples to each other, by Newton's steps; the last vote is the bias."""
    mean, spread = standard_of(rows)
    standard = (rows - mean) / spread
    alike = nearness(standard, standard)[:, :-1] + 1.0  # the bias as one more thing that all have in common
    votes: Floats = np.zeros(len(rows))
    for _ in range(_STEPS_MAX):
        logits = alike @ votes
        told = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
        slope = np.maximum(told * (1.0 - told), 1e-6)
        wanted = logits + (truth - told) / slope
        moved = np.asarray(np.linalg.solve(alike + np.diag(1.0 / (_SHARPNESS * slope)), wanted), np.float64)
        settled = float(np.abs(moved - votes).max()) < _SETTLED
        votes = moved
        if settled:
            break
    return np.append(votes, votes.sum())
