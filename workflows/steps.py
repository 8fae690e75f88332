"""How a workflow takes one durable step: locally first, then patiently as an ordinary activity.

A refusal or a defect comes back as `StepFailed` with its label; an operational fault is waited out.
"""

from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

from domain.errand import Errand
from domain.refusal import NotFound
from workflows.options import LOCAL_RETRY, LOCAL_TIMEOUT, PATIENT_RETRY, PATIENT_TIMEOUT, REMOTE

T = TypeVar("T")


class StepFailed(Exception):
    """A step that will not succeed by being tried again."""

    def __init__(self, kind: str, label: str) -> None:
        super().__init__(f"{kind}: {label}")
        self.kind = kind
        self.label = label

    @property
    def not_found(self) -> bool:
        """Whether what the step is about does not exist: a wake-up outlived a restore of the database."""
        return self.kind == "Refusal" and self.label == NotFound.slug


async def step(errand: Errand, ask: Any, answer: type[T], patient_ask: Any | None = None) -> T:
    """Take one step of the database or the rules and return its answer. Raises StepFailed."""
    try:
        return await _local(errand, ask, answer)
    except FailureError as fault:  # a local activity's failure comes bare, an ordinary one's inside an ActivityError
        if is_cancelled_exception(fault):
            raise
        _raise_if_final(fault)
    return await patient_step(errand, ask if patient_ask is None else patient_ask, answer)


async def patient_step(errand: Errand, ask: Any, answer: type[T]) -> T:
    """Take one step as an ordinary activity, for as long as it takes. Raises StepFailed."""
    try:
        found: T = await workflow.execute_activity(
            errand.value,
            ask,
            result_type=answer,
            start_to_close_timeout=PATIENT_TIMEOUT,
            retry_policy=PATIENT_RETRY,
            summary=errand.value.replace("_", " "),
        )
        return found
    except ActivityError as fault:
        _raise_if_final(fault)
        raise


async def business_call(errand: Errand, ask: Any, answer: type[T]) -> T | None:
    """Make one business call and return its answer, or None when there was none: the ledger knows what that means."""
    options = REMOTE[errand]
    try:
        found: T = await workflow.execute_activity(
            errand.value,
            ask,
            result_type=answer,
            start_to_close_timeout=options.start_to_close,
            schedule_to_start_timeout=options.schedule_to_start,
            heartbeat_timeout=options.heartbeat,
            retry_policy=options.retry,
            summary=errand.value.replace("_", " "),
        )
        return found
    except ActivityError:
        return None


async def _local(errand: Errand, ask: Any, answer: type[T]) -> T:
    found: T = await workflow.execute_local_activity(
        errand.value,
        ask,
        result_type=answer,
        start_to_close_timeout=LOCAL_TIMEOUT,
        retry_policy=LOCAL_RETRY,
        summary=errand.value.replace("_", " "),
    )
    return found


def _raise_if_final(fault: FailureError) -> None:
    cause = fault.cause if isinstance(fault, ActivityError) else fault
    if isinstance(cause, ApplicationError) and cause.type in ("Refusal", "Defect"):
        raise StepFailed(cause.type, cause.message) from fault
