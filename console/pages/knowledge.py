"""The page of articles and macros with their versions."""

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return []
