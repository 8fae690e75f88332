"""The staff's pages, one module each; every one asks the contract and renders what it answers."""

from starlette.routing import BaseRoute

from console import sessions
from console.pages import approvals, conversation, desk, drafts, knowledge, numbers, policy, queue, tools


def routes() -> list[BaseRoute]:
    """Return the routes of all pages, below `/console`."""
    return [
        *sessions.routes(),
        *queue.routes(),
        *conversation.routes(),
        *approvals.routes(),
        *drafts.routes(),
        *knowledge.routes(),
        *policy.routes(),
        *numbers.routes(),
        *desk.routes(),
        *tools.routes(),
    ]
