"""Resident memory and processor time of each process of a stack, its children included.

PSS where the system tells it (pages shared by several processes are divided among them), and RSS.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import psutil

MIB = 1024 * 1024


@dataclass(frozen=True)
class Resident:
    """Memory of one process with its children; `pss_mib` None where the system does not tell."""

    rss_mib: float
    pss_mib: float | None


def resident(pids: Mapping[str, int]) -> dict[str, Resident]:
    """Return the memory of each named process."""
    return {name: _of_family(psutil.Process(pid)) for name, pid in pids.items()}


def processor_s(pids: Mapping[str, int]) -> dict[str, float]:
    """Return the processor time that each named process has used so far."""
    return {name: sum(map(_used_s, _family(psutil.Process(pid)))) for name, pid in pids.items()}


def _used_s(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(used.user + used.system)


def _family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def _of_family(process: psutil.Process) -> Resident:
    rss, pss = 0, 0
    told = True
    for one in _family(process):
        try:
            rss += one.memory_info().rss
            pss += getattr(one.memory_full_info(), "pss", 0)
        except psutil.NoSuchProcess:
            continue  # a Postgres session that has just ended
        except psutil.AccessDenied:
            told = False
    return Resident(rss / MIB, pss / MIB if told and pss else None)
