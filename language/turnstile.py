"""A lock that is taken in the order of asking, so that whoever has many texts does not keep out whoever has one.

Between threads of this process alone; whoever waits says for how long.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Busy(Exception):
    """It was taken by others for longer than the caller could wait."""


class Turnstile:
    """Lets one thread through at a time."""

    def __init__(self) -> None:
        self._inner = threading.Lock()
        self._queue: deque[threading.Event] = deque()  # the first is that of whoever is through

    @contextmanager
    def through(self, wait_s: float | None) -> Iterator[None]:
        """Hold it. Raises Busy after `wait_s` seconds in the queue; None: waits as long as it takes."""
        mine = threading.Event()
        with self._inner:
            self._queue.append(mine)
            if self._queue[0] is mine:
                mine.set()
        try:
            if not mine.wait(wait_s):
                raise Busy
            yield
        finally:
            with self._inner:
                self._queue.remove(mine)
                if self._queue:
                    self._queue[0].set()
