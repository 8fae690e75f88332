"""Every script by its name. `slow:MS` does what `good` does, so many milliseconds late."""

from collections.abc import Callable
from dataclasses import replace

from tests.scripted_model import broken, hostile
from tests.scripted_model.asked import Asked
from tests.scripted_model.honest import good
from tests.scripted_model.replies import Reply

Script = Callable[[Asked], Reply]

HOSTILE: dict[str, Script] = {
    "claims_refunds": hostile.claims_refunds,
    "confirms_everything": hostile.confirms_everything,
    "denies_person": hostile.denies_person,
    "invents_orders": hostile.invents_orders,
    "leaks_names": hostile.leaks_names,
    "obeys_injection": hostile.obeys_injection,
    "repeats_data": hostile.repeats_data,
    "tool_loop": hostile.tool_loop,
}
BROKEN: dict[str, Script] = {
    "429": broken.too_many_requests,
    "500": broken.server_error,
    "broken_json": broken.broken_json,
    "costs_too_much": broken.costs_too_much,
    "drips": broken.drips,
    "flaky": broken.flaky,
    "half_answer": broken.half_answer,
    "hangs": broken.hangs,
    "huge": broken.huge,
    "redirects": broken.redirects,
    "unknown_model": broken.unknown_model,
    "wrong_key": broken.wrong_key,
    "wrong_schema": broken.wrong_schema,
}
SCRIPTS: dict[str, Script] = {"good": good, **HOSTILE, **BROKEN}
SLOW = "slow:"
NAMES = [*SCRIPTS, f"{SLOW}MS"]


def script_of(name: str) -> Script:
    """Return the script of that name. Raises ValueError, naming all that there are, where there is none."""
    delay_ms = name.removeprefix(SLOW)
    if name.startswith(SLOW) and delay_ms.isdecimal():
        return lambda asked: replace(good(asked), after_s=int(delay_ms) / 1000)
    if name not in SCRIPTS:
        raise ValueError(f"there is no script {name!r}; there are: {', '.join(NAMES)}")
    return SCRIPTS[name]
