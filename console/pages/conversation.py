"""The page of one conversation, whole: its log, its facts, and what a person can do."""

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return []
