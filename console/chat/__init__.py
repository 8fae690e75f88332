"""The customer's chat: a page and a widget, whose scripts speak the HTTP contract themselves."""

from starlette.routing import BaseRoute

from console.chat import pages, widget


def routes() -> list[BaseRoute]:
    """Return the routes of the chat, below `/chat`."""
    return [*pages.routes(), *widget.routes()]
