"""RefreshWorkflow: has one parcel asked about anew, and then holds its id so that nobody asks again too soon.

Started by a conversation that had to tell, or decide on, what was too old; one run at a time for each order.
"""

from temporalio import workflow

from domain.errand import Errand, RefreshTracking
from workflows.messages import REFRESH_WORKFLOW, RefreshStart
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
