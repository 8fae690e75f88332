"""What may be logged of a fault: its types and the places it passed through.

Its message may hold anybody's words, and no local variable is anybody's business (INVARIANT 12).
"""

import traceback
from pathlib import Path
from typing import Any

FRAMES_MAX = 30


def trace(fault: BaseException) -> dict[str, Any]:
    """Return the log fields of a fault: `fault`, its types from the outermost to the cause, and `frames`."""
    frames = traceback.extract_tb(fault.__traceback__)[-FRAMES_MAX:]
    return {
        "fault": " < ".join(_types(fault)),
        "frames": [f"{'/'.join(Path(f.filename).parts[-2:])}:{f.lineno} {f.name}" for f in frames],
    }


def _types(fault: BaseException) -> list[str]:
    types: list[str] = []
    at: BaseException | None = fault
    while at is not None and len(types) < FRAMES_MAX:
        types.append(f"{type(at).__module__}.{type(at).__qualname__}")
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return types
