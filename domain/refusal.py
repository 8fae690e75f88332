"""Refusals: expected outcomes that the caller is told, each a type with its own slug.

A refusal is not an error to retry; operational faults and defects have other families.
"""


class Refusal(Exception):
    """An expected no. `slug` ends the problem document's type; `status` is its HTTP status."""

    slug = "refused"
    status = 409
    title = "The request was refused"

    def __init__(self, detail: str, **fields: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fields = fields


class NotFound(Refusal):
    """It does not exist, or not for this principal: the two are never told apart."""

    slug, status, title = "not-found", 404, "Not found"


class MessageConflict(Refusal):
    """The same client_message_id came with other words."""

    slug, title = "message-conflict", "This client_message_id was used for another text"


class VersionConflict(Refusal):
    """The caller acted on an older version of the conversation."""

    slug, title = "version-conflict", "The conversation has moved on"


class RequestConflict(Refusal):
    """The same request_id came with another request."""

    slug, title = "request-conflict", "This request_id was used for another request"


class ApprovalStale(Refusal):
    """What would be approved is not what was shown, or can no longer be approved."""

    slug, title = "approval-stale", "This approval no longer fits the action"


class ApprovalNotAllowed(Refusal):
    """Wrong role, or one's own proposal."""

    slug, status, title = "approval-not-allowed", 403, "You may not decide this approval"


class Forbidden(Refusal):
    """The principal may see it and may not do it."""

    slug, status, title = "forbidden", 403, "Your role does not allow this"


class NotOwned(Refusal):
    """A person must own the conversation (and, for a release, this person) and does not."""

    slug, title = "not-owned", "You do not hold this conversation"


class QueueFull(Refusal):
    """Too many unanswered messages wait in this conversation."""

    slug, status, title = "queue-full", 429, "Too many messages are waiting"
