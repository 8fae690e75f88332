"""How a wake-up becomes a signal that starts its workflow where none runs: Temporal's only caller beside the worker.

Signal-with-start is safe in every state: a workflow that has nothing to do looks at its row and rests.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from pydantic import SecretStr
from temporalio.client import Client
from temporalio.common import Priority, SearchAttributePair, TypedSearchAttributes, WorkflowIDConflictPolicy
from temporalio.contrib.pydantic import pydantic_data_converter

from domain.wake import Wake
from workflows.card import TENANT
from workflows.messages import (
    ACTION_WORKFLOW,
    CONVERSATION_WORKFLOW,
    SIGNALS_PER_RUN_MAX,
    WAKE_SIGNAL,
    ActionStart,
    ConversationStart,
    WakeSignal,
    conversation_workflow_id,
)

RPC_TIMEOUT = timedelta(seconds=5)


@dataclass(frozen=True)
class TemporalAddress:
    """Where Temporal is and who we are to it."""

    address: str
    namespace: str
    tls: bool = False
    api_key: str | None = None


class TemporalSettings(Protocol):
    """What the settings say of Temporal."""

    @property
    def temporal_address(self) -> str: ...  # noqa: D102
    @property
    def temporal_namespace(self) -> str: ...  # noqa: D102
    @property
    def temporal_tls(self) -> bool: ...  # noqa: D102
    @property
    def temporal_api_key(self) -> SecretStr | None: ...  # noqa: D102


def address_of(settings: TemporalSettings) -> TemporalAddress:
    """Return where Temporal is, from the settings."""
    key = settings.temporal_api_key
    return TemporalAddress(
        address=settings.temporal_address,
        namespace=settings.temporal_namespace,
        tls=settings.temporal_tls,
        api_key=key.get_secret_value() if key else None,
    )


async def connect(where: TemporalAddress, *, lazy: bool = True) -> Client:
    """Return a client that connects when it is first used, so that a Temporal that is down delays nobody's start.

    A worker's client cannot be lazy: it raises RuntimeError while Temporal cannot be reached.
    """
    return await Client.connect(
        where.address,
        namespace=where.namespace,
        tls=where.tls or where.api_key is not None,
        api_key=where.api_key,
        data_converter=pydantic_data_converter,
        lazy=lazy,
    )


class Waker:
    """Starts and signals workflows on one task queue."""

    def __init__(
        self, client: Client, task_queue: str, idle_close_s: int, signals_per_run_max: int = SIGNALS_PER_RUN_MAX
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._idle_close_s = idle_close_s
        self._signals_per_run_max = signals_per_run_max

    async def wake(self, wake: Wake) -> None:
        """Signal the workflow of `wake`, starting it where none runs. Raises RPCError when Temporal does not answer."""
        signal = WakeSignal(seq=wake.seq, event_id=wake.event_id, owner_epoch=wake.owner_epoch)
        name, workflow_id, start, summary = self._target(wake)
        await self._client.start_workflow(
            name,
            start,
            id=workflow_id,
            task_queue=self._task_queue,
            start_signal=WAKE_SIGNAL,
            start_signal_args=[signal],
            static_summary=summary,
            search_attributes=_of_tenant(wake.tenant_id),
            priority=Priority(fairness_key=wake.tenant_id),
            rpc_timeout=RPC_TIMEOUT,
        )

    async def ensure(self, wake: Wake) -> None:
        """Start the workflow of `wake` where none runs, and leave a running one alone. Raises RPCError."""
        name, workflow_id, start, summary = self._target(wake)
        await self._client.start_workflow(
            name,
            start,
            id=workflow_id,
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=summary,
            search_attributes=_of_tenant(wake.tenant_id),
            priority=Priority(fairness_key=wake.tenant_id),
            rpc_timeout=RPC_TIMEOUT,
        )

    def _target(self, wake: Wake) -> tuple[str, str, ActionStart | ConversationStart, str]:
        if wake.operation_id is not None:
            action = ActionStart(
                tenant_id=wake.tenant_id, conversation_id=wake.conversation_id, operation_id=wake.operation_id
            )
            return ACTION_WORKFLOW, wake.operation_id, action, f"action {wake.operation_id}"
        conversation = ConversationStart(
            tenant_id=wake.tenant_id,
            conversation_id=wake.conversation_id,
            idle_close_s=self._idle_close_s,
            signals_per_run_max=self._signals_per_run_max,
        )
        summary = f"conversation {wake.conversation_id} of {wake.tenant_id}"
        return CONVERSATION_WORKFLOW, conversation_workflow_id(wake.conversation_id), conversation, summary


def _of_tenant(tenant_id: str) -> TypedSearchAttributes:
    return TypedSearchAttributes([SearchAttributePair(TENANT, tenant_id)])
