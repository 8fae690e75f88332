"""Whoever watches the pages of a test: what a page complains of, and what it asked for in vain.

A test fails on every complaint that it has not said it expects; a breach of the content security policy is one, too.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, ConsoleMessage, Request, Response, WebError

CALLED_OFF = "net::ERR_ABORTED"  # a page that is left ends its own requests


@dataclass
class Onlooker:
    """Complaints of all pages of a test, in order, and the patterns of those that are expected now."""

    complaints: list[str] = field(default_factory=list)
    expected: list[re.Pattern[str]] = field(default_factory=list)

    def watch(self, context: BrowserContext, whose: str) -> None:
        """Watch every page of a context, and those that it opens later."""

        def console(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                self._note(f"{whose}: console {message.type}: {message.text} ({message.location.get('url', '')})")

        def crashed(error: WebError) -> None:
            self._note(f"{whose}: uncaught: {error.error}")

        def failed(request: Request) -> None:
            if request.failure != CALLED_OFF:
                self._note(f"{whose}: failed: {request.method} {request.url}: {request.failure}")

        def answered(response: Response) -> None:
            if response.status >= 400:
                self._note(f"{whose}: answered {response.status}: {response.request.method} {response.url}")

        context.on("console", console)
        context.on("weberror", crashed)
        context.on("requestfailed", failed)
        context.on("response", answered)

    def expect(self, pattern: str) -> None:
        """Expect complaints that match, to the end of the test."""
        self.expected.append(re.compile(pattern))

    @contextmanager
    def expecting(self, pattern: str) -> Iterator[None]:
        """Expect complaints that match, within the block alone."""
        found = re.compile(pattern)
        self.expected.append(found)
        try:
            yield
        finally:
            self.expected.remove(found)

    def _note(self, complaint: str) -> None:
        if not any(pattern.search(complaint) for pattern in self.expected):
            self.complaints.append(complaint)
