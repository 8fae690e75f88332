"""The figures of one run: what they are called, in which unit, as JSON and as a table.

Names end in their unit; a ratio is of two figures of the same run.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from bench.histories import PerTurn, Replayed
from bench.latency import Kind, Samples
from bench.memory import Resident

Figures = dict[str, Any]


def percentile_ms(samples_s: Sequence[float], q: float) -> float:
    """Return the `q`-th quantile (0 to 1) in milliseconds, by the nearest rank."""
    ordered = sorted(samples_s)
    return round(1000 * ordered[min(len(ordered) - 1, int(q * len(ordered)))], 2)


def latency_figures(alone: Mapping[Kind, Samples], together: Mapping[Kind, Samples], at_once: int) -> Figures:
    """Return latencies, rates and ratios."""
    figures: Figures = {}
    for samples_of, n in ((alone, 1), (together, at_once)):
        for kind, samples in samples_of.items():
            figures[f"{kind.value}_{n}_p50_ms"] = percentile_ms(samples.all_s, 0.5)
            figures[f"{kind.value}_{n}_p95_ms"] = percentile_ms(samples.all_s, 0.95)
            figures[f"{kind.value}_{n}_first_turn_p50_ms"] = percentile_ms(samples.first_s, 0.5)
            figures[f"{kind.value}_{n}_later_turn_p50_ms"] = percentile_ms(samples.later_s, 0.5)
            figures[f"{kind.value}_{n}_turns_per_s"] = round(samples.per_second, 1)
            figures[f"{kind.value}_{n}_turns"] = len(samples.all_s)
    return figures | _ratios(figures, at_once)


def _ratios(figures: Figures, at_once: int) -> Figures:
    def over(floor: Kind, name: str) -> float:
        ours, theirs = float(figures[f"{Kind.OURS.value}_{name}"]), float(figures[f"{floor.value}_{name}"])
        return round(ours / theirs, 3)

    return {
        "p50_over_temporal_floor": over(Kind.TEMPORAL, "1_p50_ms"),
        "p95_over_temporal_floor": over(Kind.TEMPORAL, "1_p95_ms"),
        "first_turn_p50_over_temporal_floor": over(Kind.TEMPORAL, "1_first_turn_p50_ms"),
        "later_turn_p50_over_temporal_floor": over(Kind.TEMPORAL, "1_later_turn_p50_ms"),
        f"p50_over_temporal_floor_at_{at_once}": over(Kind.TEMPORAL, f"{at_once}_p50_ms"),
        f"turns_per_s_over_temporal_floor_at_{at_once}": over(Kind.TEMPORAL, f"{at_once}_turns_per_s"),
        "p50_over_postgres_floor": over(Kind.POSTGRES, "1_p50_ms"),
    }


def history_figures(turn: PerTurn, replayed: Replayed, turns: int) -> Figures:
    """Return what a turn leaves, and what replaying many takes."""
    return {
        "history_events_per_turn": round(turn.events, 2),
        "history_bytes_per_turn": round(turn.size_bytes),
        "replay_turns": turns,
        "replay_runs": replayed.runs,
        "replay_events": replayed.events,
        "replay_total_s": round(replayed.total_s, 3),
        "replay_processor_s": round(replayed.processor_s, 3),
    }


def memory_figures(memory: Mapping[str, Resident], conversations: int) -> Figures:
    """Return resident memory by process."""
    figures: Figures = {"memory_conversations": conversations}
    for name, found in memory.items():
        figures[f"memory_{name}_rss_mib"] = round(found.rss_mib, 1)
        figures[f"memory_{name}_pss_mib"] = None if found.pss_mib is None else round(found.pss_mib, 1)
    return figures


def processor_figures(before_s: Mapping[str, float], after_s: Mapping[str, float], turns: int) -> Figures:
    """Return the processor time per turn of each process: what a busy machine blurs least."""
    return {
        f"processor_{name}_ms_per_turn": round(1000 * (after - before_s[name]) / turns, 2)
        for name, after in after_s.items()
    }


def circumstances() -> Figures:
    """Return when and where it was measured."""
    return {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, {psutil.cpu_count()} cores, "
        f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "python": platform.python_version(),
        "load_1_min": round(psutil.getloadavg()[0], 2),
    }


def report(figures: Figures, file: Path | None) -> None:
    """Print figures as a table, and write them to `file` as JSON where there is one."""
    show(figures, Console())
    if file is not None:
        file.write_text(json.dumps(figures, indent=2) + "\n")


def show(figures: Figures, console: Console) -> None:
    """Print the figures as a table."""
    table = Table(title="Interlock bench", show_header=True)
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in figures.items():
        table.add_row(name, "not told" if value is None else str(value))
    console.print(table)
