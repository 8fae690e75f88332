"""Light heads over a text's vector: what it is about, whether it asks for a person or for information, and its haste.

The weights are small, trained from our own examples (`language.training`) and committed; to read them takes numpy.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.base import Noun
from domain.understanding import Intent
from language.embedding import Embedder, HashedPieces, Matrix, Vector, embedder

HEADS_DIR = Path(__file__).parent / "data" / "heads"
INTENTS: tuple[Intent, ...] = tuple(Intent)
PERSON, INFORMATION, URGENT = len(INTENTS), len(INTENTS) + 1, len(INTENTS) + 2
OUTPUTS = len(INTENTS) + 3

Floats = NDArray[np.float64]
Layers = tuple[tuple[Floats, Floats], ...]


class Thresholds(Noun):
    """From which probability on a head's word counts; chosen on languages left out of the training."""

    person: float
    information: float
    urgent: float
    within: float  # an intent below it is not understood
    outside: float  # out of scope from here on, whatever else is likely
    beside: float  # a second intent of the same words


class Signals(Noun):
    """What the heads say of one text: probabilities from 0 to 1, of each intent apart."""

    intents: Mapping[Intent, float]
    person: float
    information: float
    urgent: float

    @property
    def ranked(self) -> tuple[tuple[Intent, float], ...]:
        """The intents, most probable first."""
        return tuple(sorted(self.intents.items(), key=lambda item: -item[1]))


class Heads:
    """The heads over one embedder: networks of one or two layers whose answers are averaged."""

    def __init__(
        self,
        over: Embedder,
        networks: Sequence[Layers],
        thresholds: Thresholds,
        digest: str,
        measured: Mapping[str, Any],
    ) -> None:
        self.over, self.thresholds, self.digest, self.measured = over, thresholds, digest, measured
        self.networks = tuple(networks)

    def read(self, text: str) -> Signals:
        """Return what the heads say of `text`."""
        return self.signals(self.over.embed_query(text))

    def signals(self, vector: Vector) -> Signals:
        """Return what the heads say of the text that has this vector."""
        told = probabilities(self.networks, vector[np.newaxis, :])[0]
        return Signals(
            intents={intent: float(told[n]) for n, intent in enumerate(INTENTS)},
            person=float(told[PERSON]),
            information=float(told[INFORMATION]),
            urgent=float(told[URGENT]),
        )


def probabilities(networks: Sequence[Layers], rows: Matrix) -> Floats:
    """Return the mean answer of `networks`: for each row of `rows` one number from 0 to 1 for each output."""
    answers: Floats = np.stack([_answer(layers, rows.astype(np.float64)) for layers in networks])
    mean: Floats = answers.mean(axis=0)
    return mean


def _answer(layers: Layers, rows: Floats) -> Floats:
    for weights, bias in layers[:-1]:
        rows = np.maximum(rows @ weights + bias, 0.0)
    weights, bias = layers[-1]
    return 1.0 / (1.0 + np.exp(-np.clip(rows @ weights + bias, -60.0, 60.0)))


def save(path: Path, heads: Heads) -> None:
    """Write `heads` to `path`, in half precision: no vote hangs on more."""
    about = {
        "digest": heads.digest,
        "thresholds": heads.thresholds.model_dump(),
        "measured": dict(heads.measured),
        "layers": [len(layers) for layers in heads.networks],
    }
    parts: dict[str, NDArray[Any]] = {
        "about": np.frombuffer(json.dumps(about, sort_keys=True).encode(), dtype=np.uint8)
    }
    for n, layers in enumerate(heads.networks):
        for m, (weights, bias) in enumerate(layers):
            parts[f"w{n}_{m}"], parts[f"b{n}_{m}"] = weights.astype(np.float16), bias.astype(np.float32)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **parts)


def load(path: Path, over: Embedder) -> Heads:
    """Return the heads kept in `path`. Raises FileNotFoundError, or ValueError where it is no file of heads."""
    with np.load(path, allow_pickle=False) as kept:
        about = json.loads(kept["about"].tobytes())
        networks = [
            tuple((kept[f"w{n}_{m}"].astype(np.float64), kept[f"b{n}_{m}"].astype(np.float64)) for m in range(count))
            for n, count in enumerate(about["layers"])
        ]
    return Heads(over, networks, Thresholds(**about["thresholds"]), about["digest"], about["measured"])


def path_of(over: Embedder) -> Path:
    """Where the committed heads over this embedder are kept."""
    return HEADS_DIR / f"{over.name}.npz"


@cache
def best_heads() -> Heads:
    """Return the heads that work here: by meaning where the `embeddings` extra is installed, by spelling where not."""
    over = embedder() or HashedPieces()
    return load(path_of(over), over)
