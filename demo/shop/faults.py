"""Misbehaviour on request: which faults are armed, and which one the next write of an operation meets.

Faults queue up per operation, first armed first met; they live in memory and end with the process.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from demo.shop.commands import OPERATIONS
from demo.shop.problems import BadRequest

LOOK_UP, UNAVAILABLE = "look_up", "unavailable"
DELAY_MS_MAX = 600_000
TIMES_MAX = 10_000


class Mode(StrEnum):
    """How a write goes wrong."""

    DROP_RESPONSE_AFTER_COMMIT = "drop_response_after_commit"
    ERROR_BEFORE_COMMIT = "error_before_commit"
    DELAY = "delay_ms"
    REJECT = "reject"
    DUPLICATE = "duplicate"


MODES = ", ".join(f"{mode}:N" if mode is Mode.DELAY else mode for mode in Mode)


@dataclass
class Fault:
    """One armed fault and how many writes it still applies to."""

    operation: str
    mode: Mode
    delay_ms: int
    times: int

    def as_json(self) -> dict[str, str | int]:
        """The fault as it was asked for, with the writes that are left."""
        mode = f"{self.mode}:{self.delay_ms}" if self.mode is Mode.DELAY else str(self.mode)
        return {"operation": self.operation, "mode": mode, "times": self.times}


class Faults:
    """The armed faults of one shop process."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[Fault]] = {operation: deque() for operation in OPERATIONS}
        self._hidden: set[str] = set()

    def arm(self, fault: Fault) -> None:
        """Queues a fault behind those armed already."""
        self._queues[fault.operation].append(fault)

    def clear(self) -> None:
        """Back to good behaviour."""
        self._hidden.clear()
        for queue in self._queues.values():
            queue.clear()

    def hide(self, operation_id: str) -> None:
        """From now on nobody can look this operation up, until the faults are cleared."""
        self._hidden.add(operation_id)

    def hides(self, operation_id: str) -> bool:
        """Whether a look-up of this operation fails."""
        return operation_id in self._hidden

    def take(self, operation: str) -> Fault | None:
        """The fault that this write meets, if any; counts it."""
        queue = self._queues[operation]
        if not queue:
            return None
        fault = queue[0]
        fault.times -= 1
        if fault.times == 0:
            queue.popleft()
        return fault

    def listing(self) -> dict[str, list[dict[str, str | int]]]:
        """What is still armed."""
        armed: list[dict[str, str | int]] = [fault.as_json() for queue in self._queues.values() for fault in queue]
        hidden: list[dict[str, str | int]] = [
            {"operation": LOOK_UP, "mode": UNAVAILABLE, "operation_id": operation_id}
            for operation_id in sorted(self._hidden)
        ]
        return {"faults": [*armed, *hidden]}


def parse_fault(body: dict[str, Any]) -> Fault:
    """The fault that this JSON asks for. Raises a BadRequest that says what would be right."""
    operation, mode, times = body.get("operation"), body.get("mode"), body.get("times", 1)
    if not body.keys() <= {"operation", "mode", "times"}:
        raise _wrong("a fault holds only operation, mode and times")
    if not isinstance(operation, str) or operation not in OPERATIONS:
        raise _wrong(f"operation must be one of {', '.join(OPERATIONS)}")
    if type(times) is not int or not 1 <= times <= TIMES_MAX:
        raise _wrong(f"times must be an integer from 1 to {TIMES_MAX}")
    if isinstance(mode, str) and mode != Mode.DELAY and mode in list(Mode):
        return Fault(operation, Mode(mode), 0, times)
    delay = re.fullmatch(r"delay_ms:([0-9]{1,6})", mode) if isinstance(mode, str) else None
    if delay is None or int(delay[1]) > DELAY_MS_MAX:
        raise _wrong(f"mode must be one of {MODES}, with N from 0 to {DELAY_MS_MAX}")
    return Fault(operation, Mode.DELAY, int(delay[1]), times)


def hidden_look_up(body: dict[str, Any]) -> str | None:
    """The operation id whose look-ups this JSON asks to fail, or None where it asks for something else."""
    if body.get("operation") != LOOK_UP:
        return None
    operation_id = body.get("operation_id")
    if body.keys() != {"operation", "mode", "operation_id"} or body.get("mode") != UNAVAILABLE:
        raise _wrong(f"{LOOK_UP} takes mode {UNAVAILABLE} and an operation_id, and nothing else")
    if not isinstance(operation_id, str) or not 0 < len(operation_id) <= 200:
        raise _wrong("operation_id must be a string of 1 to 200 characters")
    return operation_id


def _wrong(what: str) -> BadRequest:
    return BadRequest(422, "invalid_fault", f"Not a fault: {what}.")
