"""The routes of design §8, one module per resource: each turns a request into one transaction or one view.

Who asks, how often, and whether it is a repeat has been settled before a route is reached.
"""

from fastapi import APIRouter

from gateway.routes import actions, conversations, events, health, messages, ownership, queue, reference

ROUTERS: tuple[APIRouter, ...] = (
    conversations.router,
    messages.router,
    events.router,
    ownership.router,
    actions.router,
    queue.router,
    health.router,
    reference.router,
)
