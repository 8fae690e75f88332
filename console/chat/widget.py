"""The script that an organisation puts on its own pages, with the few words that it needs before the chat is there.

It is public, may be loaded from anywhere, and is looked at again after a few minutes.
"""

import json
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.rendering import STATIC

KEPT_S = 300
_WORDS = ("widget.open", "widget.close", "widget.frame", "widget.unread")


def routes() -> list[Route]:
    """Return the route of the script."""
    return [Route("/widget.js", widget)]


async def widget(_request: Request) -> Response:
    """Return the script."""
    headers = {
        "Cache-Control": f"public, max-age={KEPT_S}",
        "Cross-Origin-Resource-Policy": "cross-origin",  # a page that isolates itself may load it too
    }
    return Response(script(), media_type="text/javascript", headers=headers)


@cache
def script() -> str:
    """Return the script, closed in itself: a page's own names stay its own."""
    catalogue = json.loads((STATIC / "chat" / "words.json").read_text("utf-8"))
    words = {language: {key: texts[key] for key in _WORDS} for language, texts in catalogue.items()}
    told = json.dumps(words, ensure_ascii=False)
    return f"((WORDS) => {{\n{(STATIC / 'chat' / 'widget.js').read_text('utf-8')}}})({told});\n"
