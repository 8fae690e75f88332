"""Tools and who may use them: the words of the permission service, whose allowlists stand in the policy bundle.

A role is that of the token and the database at the moment of the request, so that a revocation acts at once.
"""

from enum import StrEnum

from domain.base import Noun


class Tool(StrEnum):
    """What can be used through Interlock. An action's own kind is judged by its rules; a tool is the door to it."""

    WRITE_MESSAGE = "write_message"
    ASK_FOR_PERSON = "ask_for_person"
    READ_OWN = "read_own"
    CONFIRM_OWN = "confirm_own"
    CONSENT_IN_WORDS = "consent_in_words"  # a "yes" in the chat counts as the customer's confirmation
    READ_ACCOUNT = "read_account"
    DRAFT = "draft"  # an answer that a person lets out
    ANSWER = "answer"
    PROPOSE = "propose"
    READ_CONVERSATIONS = "read_conversations"
    READ_QUEUE = "read_queue"
    TAKE_OVER = "take_over"
    RELEASE = "release"
    REPLY = "reply"
    REVIEW_DRAFT = "review_draft"
    APPROVE_AS_MANAGER = "approve_as_manager"
    APPROVE_AS_FINANCE = "approve_as_finance"
    APPROVE_IN_BATCH = "approve_in_batch"
    SETTLE_UNKNOWN = "settle_unknown"
    STOP_DISPATCH = "stop_dispatch"
    RESUME_DISPATCH = "resume_dispatch"
    READ_POLICY = "read_policy"
    PUBLISH_POLICY = "publish_policy"
    READ_AUDIT = "read_audit"
    MANAGE_STAFF = "manage_staff"


class ToolRole(StrEnum):
    """In whose role a tool is used."""

    CUSTOMER = "customer"
    ANONYMOUS = "anonymous"
    BOT = "bot"
    SERVICE = "service"
    AGENT = "agent"
    MANAGER = "manager"
    FINANCE = "finance"
    TRUST_AND_SAFETY = "trust_and_safety"
    ADMIN = "admin"


class ToolQuestion(Noun):
    """May `role` use `tool` now? `kind`, `amount_minor` and `currency` are of the action it is used on, if any."""

    tenant_id: str
    tenant_kind: str
    stage: str
    role: ToolRole
    tool: Tool
    kind: str = ""
    amount_minor: int = 0
    currency: str = ""
