"""A tenant as it stands at one moment, and the questions about permissions that are asked under that.

Pure; it is read with whatever else a request or a turn begins with, so that a change acts at once.
"""

from domain.base import Noun
from domain.permission import Tool, ToolQuestion, ToolRole


class TenantStanding(Noun):
    """`policy_digest` names the bundle in force, None where none is: then nobody may do anything."""

    id: str
    kind: str
    stage: str
    policy_digest: str | None

    def question(
        self, role: ToolRole, tool: Tool, kind: str = "", amount_minor: int = 0, currency: str = ""
    ) -> ToolQuestion:
        """Return the question whether `role` may use `tool` now, on an action of that kind and amount if any."""
        return ToolQuestion(
            tenant_id=self.id,
            tenant_kind=self.kind,
            stage=self.stage,
            role=role,
            tool=tool,
            kind=kind,
            amount_minor=amount_minor,
            currency=currency,
        )
