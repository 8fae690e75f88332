"""Whether the process lives, whether it can serve, and what it counts.

Liveness asks nothing of anybody; readiness asks each dependency, and waits for none of them long.
"""

import asyncio
from typing import Any, Literal

import structlog
from fastapi import APIRouter, Request, Response

from domain.principal import PrincipalKind, StaffRole
from domain.refusal import NotFound, Refusal
from gateway.admission import carried
from gateway.answers import Alive, Readiness
from gateway.desk import Desk, Probe, desk_of
from gateway.documents import problems
from gateway.metrics import MEDIA_TYPE
from store.faults import passes
from store.listening import ping
from store.outbox import outbox_lag

log = structlog.get_logger(__name__)

router = APIRouter(tags=["operation"])

PROBE_TIMEOUT_S = 1.5

_UNREADY: dict[int | str, dict[str, Any]] = {503: {"model": Readiness, "description": "At least one dependency fails."}}
_EXPOSITION: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/healthz", summary="Liveness", responses=problems())
async def alive() -> Alive:
    """Answer, and ask nothing of anybody."""
    return Alive()


@router.get("/readyz", summary="Readiness", responses=_UNREADY | problems())
async def ready(request: Request, response: Response) -> Readiness:
    """Say of each dependency whether it answers; 503 where one does not."""
    desk = desk_of(request)
    probes: dict[str, Probe] = {"postgres": lambda: ping(desk.db), **desk.probes, "keys": desk.verifier.ready}
    found = await asyncio.gather(*(_answers(name, probe) for name, probe in probes.items()))
    told = dict(zip(probes, found, strict=True))
    if "failing" in found:
        response.status_code = 503
    return Readiness(ready="failing" not in found, dependencies=told)


async def _answers(name: str, probe: Probe) -> Literal["ok", "failing"]:
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            await probe()
    except Exception as fault:  # noqa: BLE001  whatever a dependency does, it is the dependency that fails
        log.warning("dependency.failed", dependency=name, cause=type(fault).__name__)
        return "failing"
    return "ok"


@router.get("/metrics", summary="Counters", responses=_EXPOSITION | problems(NotFound), response_class=Response)
async def metrics(request: Request) -> Response:
    """Return the counters of this process: to admins and services, or to all where the settings say so."""
    desk = desk_of(request)
    if not (desk.settings.metrics_public or await may_operate(desk, request, admins_only=True)):
        raise NotFound("There is nothing at this address.")
    desk.metrics.streams.set(desk.hub.streams)
    desk.metrics.listening.set(desk.hub.listening)
    lag = await outbox_lag(desk.db)
    desk.metrics.outbox_waiting.set(lag.waiting)
    desk.metrics.outbox_oldest_s.set(lag.oldest_s)
    return Response(desk.metrics.exposition(), media_type=MEDIA_TYPE)


async def may_operate(desk: Desk, request: Request, *, admins_only: bool) -> bool:
    """Whether a service or a person of the staff (an admin, with `admins_only`) asks."""
    try:
        session = await desk.identity.session(carried(request))
    except Refusal:
        return False
    except Exception as fault:
        if not passes(fault):
            raise
        return False
    principal = session.principal
    if principal.kind is PrincipalKind.SERVICE:
        return True
    return principal.is_staff and (not admins_only or principal.role is StaffRole.ADMIN)
