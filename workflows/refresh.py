"""RefreshWorkflow: has one parcel asked about anew, and then holds its id so that nobody asks again too soon.

Started by whatever had to tell, or decide on, what was too old; one run at a time for each order.
"""

import contextlib
from collections.abc import Iterable

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from domain.errand import Errand, RefreshTracking
from workflows import card
from workflows.messages import REFRESH_WORKFLOW, RefreshStart, refresh_workflow_id
from workflows.options import REFRESH_NOT_AGAIN_WITHIN
from workflows.steps import business_call


@workflow.defn(name=REFRESH_WORKFLOW)
class RefreshWorkflow:
    """One refresh of one order's tracking."""

    @workflow.run
    async def run(self, start: RefreshStart) -> str:
        """Ask, several times if need be; return what came of it, and not before the next refresh is welcome."""
        ask = RefreshTracking(tenant_id=start.tenant_id, order_id=start.order_id)
        asked = await business_call(Errand.REFRESH_TRACKING, ask, bool)
        outcome = "no answer" if asked is None else "refreshed" if asked else "asked a moment ago"
        workflow.set_current_details(f"Tracking of {start.order_id}: {outcome}.")
        await workflow.sleep(REFRESH_NOT_AGAIN_WITHIN)
        return outcome


async def have_refreshed(tenant_id: str, order_ids: Iterable[str]) -> None:
    """Have parcels asked about whose tracking was too old, in the background and not again too soon."""
    for order_id in order_ids:
        with contextlib.suppress(WorkflowAlreadyStartedError):
            await workflow.start_child_workflow(
                REFRESH_WORKFLOW,
                RefreshStart(tenant_id=tenant_id, order_id=order_id),
                id=refresh_workflow_id(tenant_id, order_id),
                parent_close_policy=ParentClosePolicy.ABANDON,
                static_summary=f"refresh tracking of {order_id}",
                search_attributes=TypedSearchAttributes([SearchAttributePair(card.TENANT, tenant_id)]),
                priority=workflow.info().priority,
            )
