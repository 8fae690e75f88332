"""Laws of failures: each is sorted once, and what Temporal keeps of it is a label and nothing that anybody said."""

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError, OperationalError
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from activities.sorting import SortFailures, sort_failure
from domain.fault import OperationalFault, Unreachable
from domain.refusal import ApprovalStale, NotFound, StaleReason

SECRET = "zoe@quxley.example wants 20.00 back"


class Deadlock(psycopg.errors.DeadlockDetected):
    """As the database would raise it."""


@pytest.mark.parametrize(
    ("fault", "kind", "label", "final"),
    [
        (NotFound(SECRET), "Refusal", "not-found", True),
        (ApprovalStale(SECRET, StaleReason.EXPIRED), "Refusal", "approval-stale", True),
        (OperationalFault("policy_bundle_missing"), "OperationalFault", "policy_bundle_missing", False),
        (Unreachable("shop_503"), "OperationalFault", "shop_503", False),
        (
            OperationalError(SECRET, {}, psycopg.OperationalError(SECRET)),
            "OperationalFault",
            "store_unavailable",
            False,
        ),
        (DBAPIError(SECRET, {}, Deadlock(SECRET)), "OperationalFault", "store_unavailable", False),
        (ConnectionRefusedError(SECRET), "OperationalFault", "store_unavailable", False),
        (DBAPIError(SECRET, {}, psycopg.errors.CheckViolation(SECRET)), "Defect", "DBAPIError", True),
        (KeyError(SECRET), "Defect", "KeyError", True),
        (TypeError(SECRET), "Defect", "TypeError", True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_a_failure_is_a_refusal_a_fault_that_passes_or_a_defect(
    fault: Exception, kind: str, label: str, final: bool
) -> None:
    told = sort_failure(fault)
    assert (told.type, told.message, told.non_retryable) == (kind, label, final)
    assert told.details == ()


class Fails(ActivityInboundInterceptor):
    """An activity that fails with something personal in its message, for a reason just as personal."""

    def __init__(self) -> None:
        """There is nothing behind it."""

    async def execute_activity(self, input: ExecuteActivityInput) -> object:  # noqa: A002
        try:
            raise ValueError(SECRET)
        except ValueError as cause:
            raise KeyError(SECRET) from cause


async def test_nothing_of_a_failure_but_its_label_reaches_temporal() -> None:
    sorter = SortFailures().intercept_activity(Fails())

    @activity.defn
    async def fails() -> None:
        await sorter.execute_activity(ExecuteActivityInput(fn=lambda: None, args=[], executor=None, headers={}))

    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(fails)
    assert caught.value.message == "KeyError"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
