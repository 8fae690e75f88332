"""Follows the log of one conversation as server-sent events, and resumes where it was when the stream breaks.

A thread reads; whoever wants events takes them from the queue.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterable, Iterator

import httpx

from demo.tour.doors import Json

SILENCE_S_MAX = 40.0  # the server says something at least every 15 s
PAUSE_S = 0.3


class Follower:
    """Reads `url` as the bearer of `token` from the beginning on."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._arrived: queue.Queue[Json] = queue.Queue()
        self._known: set[str] = set()
        self._last_seq = 0
        self._closing = threading.Event()
        threading.Thread(target=self._read, name="tour-follower", daemon=True).start()

    def take(self, patience_s: float) -> Json | None:
        """Return the next event, or None where none comes within `patience_s`."""
        try:
            return self._arrived.get(timeout=max(patience_s, 0.001))
        except queue.Empty:
            return None

    def close(self) -> None:
        """Read no further; the thread ends with its stream."""
        self._closing.set()

    def _read(self) -> None:
        timeout = httpx.Timeout(10, read=SILENCE_S_MAX)
        with httpx.Client(timeout=timeout, trust_env=False) as http:
            while not self._closing.is_set():
                try:
                    self._read_once(http)
                except httpx.HTTPError:
                    time.sleep(PAUSE_S)  # the server is on its way back, or the scene gives up by its own deadline

    def _read_once(self, http: httpx.Client) -> None:
        headers = {
            "Accept": "text/event-stream",
            "Authorization": f"Bearer {self._token}",
            "Last-Event-ID": str(self._last_seq),
        }
        with http.stream("GET", self._url, headers=headers) as answer:
            answer.raise_for_status()
            for event in parse(answer.iter_lines()):
                if self._closing.is_set():
                    return
                self._note(event)
        time.sleep(PAUSE_S)

    def _note(self, event: Json) -> None:
        ident = str(event.get("event_id") or (event["seq"], event["kind"]))
        if ident not in self._known:
            self._known.add(ident)
            self._arrived.put(event)
        self._last_seq = max(
            self._last_seq, event["seq"] - 1
        )  # what lies behind an event shares its seq: read it again


def parse(lines: Iterable[str]) -> Iterator[Json]:
    """Yield the JSON of each server-sent event; comments, ids and names are passed over."""
    data: list[str] = []
    for line in lines:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield json.loads("\n".join(data))
            data = []
