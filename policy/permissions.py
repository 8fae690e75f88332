"""The permission service: may a role use a tool now, by the allowlists of a bundle.

Pure; a question's answer depends on nothing but the bundle and the question, so that it may be kept.
"""

from functools import lru_cache
from typing import Any

from domain.permission import ToolQuestion
from domain.verdict import VerdictKind
from policy.engine import PolicyEngine

ANSWERS_KEPT_MAX = 4_096
USE_TOOL = "use_tool"


def tool_request(question: ToolQuestion) -> dict[str, Any]:
    """Return the Cedar request for `question`."""
    return {
        "principal": {"type": "Role", "id": question.role.value},
        "action": {"type": "Action", "id": USE_TOOL},
        "resource": {"type": "Tool", "id": question.tool.value},
        "context": {
            "tenant": {"id": question.tenant_id, "kind": question.tenant_kind},
            "stage": question.stage,
            "kind": question.kind,
            "amount_minor": question.amount_minor,
            "currency": question.currency,
        },
    }


class Permissions:
    """Answers under one bundle. INVARIANT: what no rule allows is refused, and an error in evaluation refuses."""

    def __init__(self, engine: PolicyEngine) -> None:
        self._engine = engine
        self._kept = lru_cache(maxsize=ANSWERS_KEPT_MAX)(self._judged)

    def allows(self, question: ToolQuestion) -> bool:
        """Return whether the role may use the tool."""
        return self._kept(question)

    def _judged(self, question: ToolQuestion) -> bool:
        return self._engine.judge_request(tool_request(question), ()).kind is VerdictKind.PERMIT
