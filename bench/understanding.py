"""`python -m bench.understanding [--json FILE] [--quick]`: what it takes to understand a message, by the way it takes.

Rules alone and both together are measured in turns over the same messages in one run; times are of this machine.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

import psutil

from bench.figures import Figures, circumstances, percentile_ms, report
from domain.understanding import TurnContext, Understanding
from language.cleaning import cleaned
from language.heads import best_heads
from language.routing import LocalUnderstander
from language.tongues import identifier
from language.understanding import RulesUnderstander

MESSAGES = Path(__file__).parents[1] / "evals" / "data" / "intents.jsonl"
LONG = "I ordered this lamp for my mother, it came late and now it does not work at all, see A-10482. " * 40
ROUNDS, ROUNDS_QUICK = 5, 1
_MB = 1_000_000
Told = TypeVar("Told")


def main() -> int:
    """Measure and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.understanding", description="Measure understanding.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--quick", action="store_true", help="one round: a look, not a measurement")
    asked = parser.parse_args()
    figures = circumstances() | measure(ROUNDS_QUICK if asked.quick else ROUNDS)
    report(figures, asked.json)
    return 0


def measure(rounds: int) -> Figures:
    """Return times by route, what the heads add to the rules, and what each part keeps in memory."""
    texts = [json.loads(line)["text"] for line in MESSAGES.read_text(encoding="utf-8").splitlines()]
    before = _resident()
    identifier()
    identified = _resident()
    rules = RulesUnderstander()
    ruled = _resident()
    local = LocalUnderstander()
    local.understand(["is anybody there?"], TurnContext())
    figures: Figures = {
        "identifier_mb": round((identified - before) / _MB, 1),
        "rules_mb": round((ruled - identified) / _MB, 1),
        "heads_mb": round((_resident() - ruled) / _MB, 1),
        "embeddings": best_heads().over.name,
        "messages": len(texts),
    }
    alone, together = _timed(texts, rules, local, rounds)
    for route, times in together.items():
        figures[f"{route}_p50_ms"] = percentile_ms(times, 0.5)
        figures[f"{route}_p95_ms"] = percentile_ms(times, 0.95)
        figures[f"{route}_share"] = round(len(times) / (rounds * len(texts)), 3)
    every = [took for times in together.values() for took in times]
    figures["rules_alone_p50_ms"] = percentile_ms(alone, 0.5)
    figures["both_over_rules_alone"] = round(median(every) / median(alone), 1)
    figures["one_vector_p50_ms"] = percentile_ms([_taken(best_heads().read, cleaned(t))[1] for t in texts], 0.5)
    figures["long_message_ms"] = percentile_ms([_of(local, LONG)[1] for _ in range(3)], 0.5)
    return figures


def _timed(
    texts: Sequence[str], rules: RulesUnderstander, local: LocalUnderstander, rounds: int
) -> tuple[list[float], dict[str, list[float]]]:
    """Seconds of the rules alone, and of both by route, in turns, so that what else runs falls on both."""
    alone: list[float] = []
    together: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for text in texts:
            alone.append(_of(rules, text)[1])
            told, took = _of(local, text)
            together[told.route].append(took)
    return alone, together


def _of(understander: RulesUnderstander | LocalUnderstander, text: str) -> tuple[Understanding, float]:
    return _taken(lambda said: understander.understand([said], TurnContext()), text)


def _taken(work: Callable[[str], Told], text: str) -> tuple[Told, float]:
    began_at = time.perf_counter()
    done = work(text)
    return done, time.perf_counter() - began_at


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    sys.exit(main())
