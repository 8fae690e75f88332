"""The routes of design §8, one module per resource: each turns a request into one transaction or one view.

Who asks, how often, and whether it is a repeat has been settled before a route is reached.
"""

from fastapi import APIRouter

from gateway.routes import (
    actions,
    approvals,
    audit,
    conversations,
    events,
    health,
    messages,
    ownership,
    policy,
    queue,
    reference,
    sessions,
    staff_actions,
    switches,
)

ROUTERS: tuple[APIRouter, ...] = (
    conversations.router,
    messages.router,
    events.router,
    ownership.router,
    actions.router,
    approvals.router,
    staff_actions.router,
    queue.router,
    switches.router,
    policy.router,
    audit.router,
    sessions.router,
    sessions.mine,
    health.router,
    reference.router,
)
