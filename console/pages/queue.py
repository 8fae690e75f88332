"""The page of what waits for a person, live, with claims, filters and views."""

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return []
