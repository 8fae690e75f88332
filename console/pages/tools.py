"""The page of what every page has: search, commands, help."""

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return []
