"""Sorts every failure once, where it is born, into refusal, operational fault or defect; nothing else reaches Temporal.

What Temporal stores of a failure is a label: no message, no parameter, no text of anybody (INVARIANT 12).
"""

import asyncio
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from domain.fault import OperationalFault
from domain.refusal import Refusal
from domain.trace import trace
from store.faults import passes

log = structlog.get_logger()


def sort_failure(fault: BaseException) -> ApplicationError:
    """Return what Temporal is told: a type and a label; retryable only for operational faults."""
    match fault:
        case Refusal():
            return ApplicationError(fault.slug, type="Refusal", non_retryable=True)
        case OperationalFault():
            return ApplicationError(fault.code, type="OperationalFault")
        case _ if passes(fault):
            return ApplicationError("store_unavailable", type="OperationalFault")
        case _:
            return ApplicationError(type(fault).__name__, type="Defect", non_retryable=True)


class _Sorter(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 (the SDK's name)
        try:
            return await self.next.execute_activity(input)
        except (ApplicationError, CancelledError, asyncio.CancelledError):
            raise
        except Exception as fault:  # noqa: BLE001  every failure is sorted, and told to Temporal as a label
            sorted_fault = sort_failure(fault)
            name = activity.info().activity_type
            if sorted_fault.type == "Defect":
                log.error("activity.defect_found", activity=name, **trace(fault))
            else:
                log.warning("activity.failed", activity=name, fault=sorted_fault.message, kind=sorted_fault.type)
            raise sorted_fault from None


class SortFailures(Interceptor):
    """The worker's interceptor that puts every activity behind the sorter."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Wrap the next interceptor."""
        return _Sorter(next)
