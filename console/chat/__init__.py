"""The customer's chat: a page and a widget, whose scripts speak the HTTP contract themselves."""

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """Return the routes of the chat, below `/chat`."""
    return []
