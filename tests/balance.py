"""How the tests are shared among processes: by module, and whole rooms where one costly thing serves all their tests.

A process makes its own servers, once; a room that wants a whole product is given to one process alone.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/browser/",)
FIRST = (
    *TOGETHER,
    "tests/whole/",
    "tests/workflows/",
    "tests/stack/",
)  # the longest waits: nobody should be left with them at the end


class ByRoom(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Gives a process whole modules, and each room of `TOGETHER` whole, in the order of collection."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """Return what a test must not be parted from: its room, or its module."""
    module = nodeid.partition("::")[0]
    return next((room for room in TOGETHER if module.startswith(room)), module)


def turn_of(nodeid: str) -> int:
    """Return when a test's turn comes; among equals the order of collection holds."""
    return next((turn for turn, room in enumerate(FIRST) if nodeid.startswith(room)), len(FIRST))
