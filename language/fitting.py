"""A network of one hidden layer, fitted with numpy alone: the same rows and the same seed give the same weights.

Much is left out at random on the way, of what goes in and of what is hidden: few examples teach meaning, many words.
"""

import numpy as np
from numpy.typing import NDArray

HIDDEN = 384
ROUNDS = 80  # over all rows
BATCH = 200
STEP = 2e-3  # at the beginning; it falls to nothing
DECAY = 1e-4
LEFT_OUT_IN, LEFT_OUT_HIDDEN = 0.1, 0.5  # shares
DOUBT = 0.05  # no example is surer than 1 - DOUBT / 2: some are marked wrongly
_FORGETS, _FORGETS_SQUARES = 0.9, 0.999
_TINY = 1e-8

_Floats = NDArray[np.float32]
Fitted = tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]


class _Mover:
    """Moves weights down their gradients, each by its own step (Adam with decay)."""

    def __init__(self, weights: list[_Floats]) -> None:
        self.weights = weights
        self._mean = [np.zeros_like(w) for w in weights]
        self._square = [np.zeros_like(w) for w in weights]
        self._times = 0

    def move(self, gradients: list[_Floats], step: float) -> None:
        self._times += 1
        grown, squares_grown = 1 - _FORGETS**self._times, 1 - _FORGETS_SQUARES**self._times
        for w, g, mean, square in zip(self.weights, gradients, self._mean, self._square, strict=True):
            mean += (1 - _FORGETS) * (g - mean)
            square += (1 - _FORGETS_SQUARES) * (g * g - square)
            change = (mean / grown) / (np.sqrt(square / squares_grown) + _TINY)
            w -= np.float32(step) * (change + (np.float32(DECAY) * w if w.ndim > 1 else 0))


def fitted(rows: _Floats, targets: NDArray[np.float64], seed: int) -> Fitted:
    """Return both layers (weights, bias) of a network that answers `rows` with `targets`, numbers from 0 to 1 each.

    The standardising of the rows is folded into the first layer.
    """
    chance = np.random.default_rng(seed)
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + np.float32(1e-6)
    even = ((rows - mean) / spread).astype(np.float32)
    wanted = (targets * (1 - DOUBT) + DOUBT / 2).astype(np.float32)
    first, last = (_drawn(chance, *shape) for shape in ((rows.shape[1], HIDDEN), (HIDDEN, targets.shape[1])))
    bias, last_bias = np.zeros(HIDDEN, np.float32), np.zeros(targets.shape[1], np.float32)
    mover = _Mover([first, bias, last, last_bias])
    batches = -(-len(rows) // BATCH)
    for turn in range(ROUNDS):
        order = chance.permutation(len(rows))
        for n in range(batches):
            some = order[n * BATCH : (n + 1) * BATCH]
            past = (turn * batches + n) / (ROUNDS * batches)
            gradients = _gradients(mover.weights, even[some], wanted[some], chance)
            mover.move(gradients, STEP * 0.5 * (1 + np.cos(np.pi * past)))
    scaled = (first / spread[:, np.newaxis]).astype(np.float64)
    return ((scaled, bias - mean.astype(np.float64) @ scaled), (last.astype(np.float64), last_bias.astype(np.float64)))


def _drawn(chance: np.random.Generator, width: int, height: int) -> _Floats:
    bound = np.sqrt(6 / (width + height))
    return chance.uniform(-bound, bound, (width, height)).astype(np.float32)


def _gradients(weights: list[_Floats], rows: _Floats, wanted: _Floats, chance: np.random.Generator) -> list[_Floats]:
    """The gradients of the cross entropy, with a share of the inputs and of the hidden units left out."""
    first, bias, last, last_bias = weights
    seen = rows * _kept(chance, rows.shape, LEFT_OUT_IN)
    before = seen @ first + bias
    kept = _kept(chance, before.shape, LEFT_OUT_HIDDEN)
    hidden = np.maximum(before, 0) * kept
    wrong = (1 / (1 + np.exp(-(hidden @ last + last_bias))) - wanted) / np.float32(len(rows))
    back = (wrong @ last.T) * kept * (before > 0)
    return [seen.T @ back, back.sum(axis=0), hidden.T @ wrong, wrong.sum(axis=0)]


def _kept(chance: np.random.Generator, shape: tuple[int, ...], share: float) -> _Floats:
    kept: _Floats = (chance.random(shape, dtype=np.float32) >= share).astype(np.float32) / np.float32(1 - share)
    return kept
