"""`python -m bench.policy [--json FILE] [--quick]`: how long one verdict takes, and how many a second.

Measured over the base bundle and the questions of its cases, and beside the plain engine in the same run. Crowded is
the base with rules added until so many apply to a refund alone.
"""

import argparse
import itertools
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.figures import Figures, circumstances, report
from bench.policy_plain import PlainEngine
from domain.verdict import PolicyQuestion, VerdictKind
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from policy.examining.cases import load_cases
from policy.question import request_of
from policy.schema import shapes_of
from policy.slices import applies

RULES_ON_A_REFUND = 80
ROUNDS, ROUNDS_QUICK = 60, 6
RATE_S, RATE_QUICK_S = 4.0, 0.5
LOADS = 9

Questions = dict[VerdictKind, list[PolicyQuestion]]


def main() -> int:
    """Measure and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.policy", description="Measure verdicts.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything: a look, not a measurement")
    asked = parser.parse_args()
    figures = circumstances() | measure(
        ROUNDS_QUICK if asked.quick else ROUNDS, RATE_QUICK_S if asked.quick else RATE_S
    )
    report(figures, asked.json)
    return 0


def measure(rounds: int, rate_s: float) -> Figures:
    """Return every figure; times are medians, in microseconds unless the name says otherwise."""
    base = Bundle.load()
    figures: Figures = {}
    for name, bundle in (("base", base), ("crowded", crowded(base))):
        figures[f"{name}_rules"] = len(bundle.rules)
        figures[f"{name}_rules_on_a_refund"] = _on_a_refund(bundle)
        figures[f"{name}_load_ms"] = round(1000 * _load_s(bundle), 1)
        figures |= _latencies(name, bundle, rounds)
        alone = _rate((name, rate_s))
        figures[f"{name}_verdicts_per_s_one_core"] = round(alone.per_s)
        figures[f"{name}_verdicts_per_processor_s"] = round(alone.per_processor_s)
        figures[f"{name}_verdicts_per_s_all_cores"] = round(_rate_together(name, rate_s))
    return figures


def crowded(base: Bundle) -> Bundle:
    """Return a layer over `base` with forbids that never match, so many that a refund is judged by 80 rules."""
    manifest = {"id": "crowded", "version": "1", "author": "bench", "effective_from": "2025-01-01T00:00:00Z"}
    manifest |= {"changed": "More rules.", "tenant": "bench", "base": base.manifest.id}
    rules = "\n".join(
        f'@id("added-{n}") forbid (principal, action == Action::"refund", resource)\n'
        f'when {{ context.tenant.id == "nobody-{n}" && context.amount_minor > {n} }};'
        for n in range(max(0, RULES_ON_A_REFUND - _on_a_refund(base)))
    )
    return Bundle.layered(base, {"manifest.json": json.dumps(manifest), "added.cedar": rules})


def _on_a_refund(bundle: Bundle) -> int:
    shape = shapes_of(bundle.schema)["refund"]
    return sum(applies(rule, shape) for rule in bundle.rules)


def _questions(engine: PolicyEngine) -> Questions:
    """The refunds among the base's cases, by the verdict that they come to."""
    asked = [case.question for case in load_cases() if case.question and case.question.payload.kind.value == "refund"]
    judged = [(engine.judge(question).kind, question) for question in asked]
    return {kind: [question for of, question in judged if of is kind] for kind in VerdictKind}


def _latencies(name: str, bundle: Bundle, rounds: int) -> Figures:
    """Ours and the plain way in turns, so that what else the machine does falls on both."""
    engine, plain = PolicyEngine(bundle), PlainEngine(bundle)
    figures: Figures = {}
    for kind, questions in _questions(engine).items():
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(rounds):
            for question in questions:
                ours.append(_taken_s(lambda q: engine.judge(q), question))
                theirs.append(_taken_s(lambda q: plain.judge_request(request_of(q), q.granted), question))
        figures[f"{name}_{kind.value}_us"] = round(1e6 * median(ours), 1)
        figures[f"{name}_{kind.value}_plain_us"] = round(1e6 * median(theirs), 1)
        figures[f"{name}_{kind.value}_over_plain"] = round(median(ours) / median(theirs), 3)
    return figures


def _taken_s(judge: Callable[[PolicyQuestion], object], question: PolicyQuestion) -> float:
    began_at = time.perf_counter()
    judge(question)
    return time.perf_counter() - began_at


def _load_s(bundle: Bundle) -> float:
    """What it takes to read, validate and slice a bundle's own files and those of its base."""
    took = []
    for _ in range(LOADS):
        began_at = time.perf_counter()
        if bundle.base is None:
            PolicyEngine(Bundle.parse(bundle.files))
        else:
            PolicyEngine(Bundle.layered(Bundle.parse(bundle.base.files), bundle.files))
        took.append(time.perf_counter() - began_at)
    return median(took)


class Rate(NamedTuple):
    """Verdicts a second, and a second of the processor: what a busy machine blurs least."""

    per_s: float
    per_processor_s: float


def _rate(job: tuple[str, float]) -> Rate:
    """Judge all questions in turn, in this process."""
    name, for_s = job
    base = Bundle.load()
    engine = PolicyEngine(base if name == "base" else crowded(base))
    questions: Sequence[PolicyQuestion] = [question for some in _questions(engine).values() for question in some]
    count, began_at, used_s = 0, time.perf_counter(), time.process_time()
    for question in itertools.cycle(questions):
        engine.judge(question)
        count += 1
        if count % 100 == 0 and time.perf_counter() - began_at > for_s:
            break
    return Rate(count / (time.perf_counter() - began_at), count / (time.process_time() - used_s))


def _rate_together(name: str, for_s: float) -> float:
    """Verdicts a second of as many processes as there are cores."""
    cores = multiprocessing.cpu_count()
    with ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_rate, [(name, 0.1)] * cores))  # started, and loaded once
        return sum(rate.per_s for rate in pool.map(_rate, [(name, for_s)] * cores))


if __name__ == "__main__":
    sys.exit(main())
