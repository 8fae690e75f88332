"""Fitting the heads from the examples: deterministic, offline, and with thresholds chosen on what was left out.

Needs the `train` extra (scikit-learn), and for heads over meaning the `embeddings` extra; nothing here runs in a turn.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.base import digest_of
from domain.understanding import Intent
from language.cleaning import cleaned
from language.embedding import Embedder, HashedPieces, Matrix
from language.examples import Example
from language.fitting import fitted
from language.heads import (
    INFORMATION,
    INTENTS,
    OUTPUTS,
    PERSON,
    URGENT,
    Floats,
    Heads,
    Layers,
    Thresholds,
    probabilities,
)

NETWORKS = 3  # whose answers are averaged
_NEVER = -9.0
FOLDS = 4  # each leaves out some languages altogether
PAIRS = 24  # a language, of each of two kinds
PAIRED_CHARS_MAX = 120
_UNPAIRED = frozenset(
    {
        Intent.THANKS_GREETING,
        Intent.AFFIRMATION,
        Intent.REFUSAL,
        Intent.CORRECTION,
        Intent.OUT_OF_SCOPE,
        Intent.ASKS_FOR_PERSON,
    }
)
_OUT = INTENTS.index(Intent.OUT_OF_SCOPE)
_ASKS = INTENTS.index(Intent.ASKS_FOR_PERSON)
_Flags = NDArray[np.bool_]


class CannotTrain(RuntimeError):
    """An extra is missing; the message says which."""


def train(examples: Sequence[Example], over: Embedder, rows: Matrix, digest: str) -> Heads:
    """Return heads over `rows`, the vectors of the `examples`, named by `digest`.

    Raises CannotTrain without scikit-learn.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise CannotTrain("training needs scikit-learn: install the extra `train`")
    targets = targets_of(examples)
    fit = _fit_linear if isinstance(over, HashedPieces) else _fit_networks
    told = _left_out(examples, over, rows, targets, fit)
    thresholds = _thresholds(told, targets)
    return Heads(
        over,
        fit(rows, targets, NETWORKS),
        thresholds,
        digest,
        _measured(examples, told, targets, thresholds),
    )


def in_pairs(examples: Sequence[Example]) -> tuple[Example, ...]:
    """Return some examples of one language said in one breath: a wish with a wish for a person, and with another wish.

    People ask for two things at once, and few examples do. The same examples give the same pairs.
    """
    pairs = []
    for language in sorted({example.language for example in examples}):
        here = [e for e in examples if e.language == language and len(e.text) <= PAIRED_CHARS_MAX]
        wishes = sorted((e for e in here if not e.person and e.intents[0] not in _UNPAIRED), key=_shuffled)
        people = sorted((e for e in here if e.person), key=_shuffled)
        if len(wishes) < 2 * PAIRS:
            continue
        beside = (*people[:PAIRS], *wishes[PAIRS : 2 * PAIRS])
        pairs += [
            _both(first, second, n) for n, (first, second) in enumerate(zip(wishes[:PAIRS] * 2, beside, strict=False))
        ]
    return tuple(pairs)


def _both(first: Example, second: Example, n: int) -> Example:
    link = (". ", ", ", "\n")[n % 3]
    told = tuple(dict.fromkeys(i for i in (*first.intents, *second.intents) if i is not Intent.ASKS_FOR_PERSON))
    return Example(
        text=first.text.rstrip(".!") + link + second.text,
        intents=told,
        person=first.person or second.person,
        information=first.information and second.information,
        urgent=first.urgent or second.urgent,
        language=first.language,
    )


def _shuffled(example: Example) -> str:
    return digest_of(example.text)


def vectors_of(
    examples: Sequence[Example], over: Embedder, cache: Path | None, progress: Callable[[int], None]
) -> Matrix:
    """Return one row for each example; those that `cache` keeps from an earlier run are not computed again."""
    texts = [cleaned(example.text) for example in examples]
    kept: dict[str, Any] = {}
    if cache is not None and cache.exists():
        with np.load(cache, allow_pickle=False) as file:
            kept = dict(zip(file["texts"].tolist(), file["rows"], strict=True))
    rows = []
    for text in texts:
        if text not in kept:
            kept[text] = over.embed_query(text)
        rows.append(kept[text])
        progress(1)
    matrix: Matrix = np.stack(rows).astype(np.float32)
    if cache is not None:
        np.savez(cache, allow_pickle=False, texts=np.array(texts), rows=matrix)
    return matrix


def targets_of(examples: Sequence[Example]) -> Floats:
    """Return for each example a row of what its heads should say."""
    targets = np.zeros((len(examples), OUTPUTS))
    for n, example in enumerate(examples):
        for intent in example.intents:
            targets[n, INTENTS.index(intent)] = 1.0
        targets[n, PERSON], targets[n, INFORMATION], targets[n, URGENT] = (
            example.person,
            example.information,
            example.urgent,
        )
    return targets


def _fit_networks(rows: Matrix, targets: Floats, count: int) -> list[Layers]:
    """Small networks that share what they learn over all outputs."""
    return [fitted(rows, targets, seed) for seed in range(count)]


def _fit_linear(rows: Matrix, targets: Floats, count: int) -> list[Layers]:
    """One logistic head for each output: over spelling there is nothing that they could share."""
    linear = importlib.import_module("sklearn.linear_model")
    few = importlib.import_module("scipy.sparse").csr_matrix(rows)  # nearly all of a row is zero
    weights, bias = np.zeros((rows.shape[1], OUTPUTS)), np.zeros(OUTPUTS)
    for n in range(OUTPUTS):
        if len(set(targets[:, n])) == 1:  # nothing to tell apart
            bias[n] = _NEVER
            continue
        head = linear.LogisticRegression(C=30.0, max_iter=300).fit(few, targets[:, n])
        weights[:, n], bias[n] = head.coef_[0], head.intercept_[0]
    return [((weights, bias),)]


def _left_out(
    examples: Sequence[Example],
    over: Embedder,
    rows: Matrix,
    targets: Floats,
    fit: Callable[[Matrix, Floats, int], list[Layers]],
) -> Floats:
    """What heads say that were trained without an example's language (over spelling: without every fifth example)."""
    told = np.zeros_like(targets)
    for away in _folds(examples, by_language=not isinstance(over, HashedPieces)):
        told[away] = probabilities(fit(rows[~away], targets[~away], 1), rows[away])
    return told


def _folds(examples: Sequence[Example], *, by_language: bool) -> Iterator[_Flags]:
    languages = sorted({example.language for example in examples})
    places = [languages.index(e.language) if by_language else n for n, e in enumerate(examples)]
    for fold in range(FOLDS):
        yield np.array([place % FOLDS == fold for place in places])


def _thresholds(told: Floats, targets: Floats) -> Thresholds:
    """Thresholds by what is owed: a person to nearly all who ask, and no more than a few in scope sent away.

    Heads that know a language say more than those that never saw it, so each is kept within bounds.
    """
    best = told[:, : len(INTENTS)].copy()
    best[:, _OUT] = 0.0
    inside = targets[:, _OUT] == 0.0
    wish = np.maximum(told[:, PERSON], told[:, _ASKS])
    return Thresholds(
        person=_within(float(np.quantile(wish[targets[:, PERSON] == 0.0], 0.95)), 0.35, 0.4),
        information=0.5,
        urgent=0.5,
        within=_within(float(np.quantile(best[inside].max(axis=1), 0.05)), 0.3, 0.35),
        outside=_within(float(np.quantile(told[inside, _OUT], 0.95)), 0.4, 0.5),
        beside=0.5,
    )


def _within(value: float, low: float, high: float) -> float:
    return round(min(max(value, low), high), 3)


def _measured(examples: Sequence[Example], told: Floats, targets: Floats, thresholds: Thresholds) -> dict[str, Any]:
    """Shares over what was left out, in all and by language, rounded."""
    languages = sorted({example.language for example in examples})
    of = np.array([languages.index(example.language) for example in examples])
    asks, heard = targets[:, PERSON] == 1.0, np.maximum(told[:, PERSON], told[:, _ASKS]) >= thresholds.person
    right = targets[np.arange(len(told)), told[:, : len(INTENTS)].argmax(axis=1)] == 1.0

    def shares(some: _Flags) -> dict[str, float]:
        return {
            "examples": int(some.sum()),
            "intent_right": _share(right[some]),
            "person_recall": _share(heard[some & asks]),
            "person_false_alarms": _share(heard[some & ~asks]),
        }

    every = {language: shares(of == n) for n, language in enumerate(languages)}
    return {"all": shares(np.ones(len(told), dtype=np.bool_)), "languages": every}


def _share(flags: _Flags) -> float:
    return round(float(flags.mean()), 4) if len(flags) else 0.0
