"""The page of the rules in force, what was published, and what a candidate would change."""

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return []
