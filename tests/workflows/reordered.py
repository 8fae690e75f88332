"""A conversation's workflow that does the same in another order: what a replay has to catch."""

from datetime import timedelta

from temporalio import workflow

from workflows.conversation import ConversationWorkflow
from workflows.messages import CONVERSATION_WORKFLOW, ConversationStart


@workflow.defn(name=CONVERSATION_WORKFLOW)
class ReorderedConversation(ConversationWorkflow):
    """Waits before it looks at the log."""

    @workflow.init
    def __init__(self, start: ConversationStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: ConversationStart) -> None:
        await workflow.sleep(timedelta(seconds=1))
        await super().run(start)
