"""The page of answers that wait for a person's eye."""

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return []
