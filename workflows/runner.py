"""How workflows run: in the SDK's sandbox, spared two questions about each payload whose answers are always the same.

The SDK enters the sandbox several times a payload to ask in which context it is converted, and for whom it would be put
into a storage outside; we have no such storage, and our converter heeds no context. What does has to go without this.
"""

from collections.abc import Sequence
from typing import Any

from temporalio.converter import StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

PASSED_THROUGH = ("domain", "workflows", "pydantic", "pydantic_core", "annotated_types", "typing_extensions")


def workflow_runner(*also_passed_through: str) -> WorkflowRunner:
    """Return what workflows run in, in a worker and in a replay."""
    modules = (*PASSED_THROUGH, *also_passed_through)
    return ContextFree(
        SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*modules))
    )


class ContextFree(WorkflowRunner):
    """Runs workflows in another runner, whose payloads are converted without a context."""

    def __init__(self, inner: WorkflowRunner) -> None:
        self._inner = inner

    def prepare_workflow(self, defn: Any) -> None:
        """See the inner runner."""
        self._inner.prepare_workflow(defn)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Return an instance of the inner runner, asked less."""
        return _Instance(self._inner.create_instance(det))

    def set_worker_level_failure_exception_types(self, types: Sequence[type[BaseException]]) -> None:
        """See the inner runner."""
        self._inner.set_worker_level_failure_exception_types(types)


class _Instance(WorkflowInstance):
    def __init__(self, inner: WorkflowInstance) -> None:
        self._inner = inner

    def activate(self, act: Any) -> Any:
        return self._inner.activate(act)

    def get_serialization_context(self, command_info: Any) -> None:
        return None

    def get_external_store_context(self, command_info: Any) -> StorageDriverStoreContext:
        return StorageDriverStoreContext()

    def get_info(self) -> Any:
        return self._inner.get_info()

    def get_thread_id(self) -> int | None:
        return self._inner.get_thread_id()
