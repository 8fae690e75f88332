"""Refusals: expected outcomes that the caller is told, each a type with its own slug.

A refusal is not an error to retry; operational faults and defects have other families.
"""

from enum import StrEnum

from domain.wake import Wake


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


class StaleReason(StrEnum):
    """Why an approval no longer fits the action."""

    DIGEST_CHANGED = "digest_changed"  # it names another payload than the action has
    EXPIRED = "expired"
    ALREADY_DECIDED = "already_decided"
    NOT_WAITING = "not_waiting"
    POLICY_CHANGED = "policy_changed"  # another bundle is in force than the one that asked for it
    EVIDENCE_CHANGED = "evidence_changed"  # what was read since says something else
    CONSUMED = "consumed"  # the approvals have been used


class ApprovalStale(Refusal):
    """What would be approved is not what was shown, or can no longer be approved.

    `wakes` are what the refusal itself has set in motion: what has changed is judged again, and asked about anew.
    """

    slug, title = "approval-stale", "This approval no longer fits the action"

    def __init__(self, detail: str, reason: StaleReason, wakes: tuple[Wake, ...] = (), **fields: object) -> None:
        super().__init__(detail, reason=reason.value, **fields)
        self.reason = reason
        self.wakes = wakes


class NotAllowedReason(StrEnum):
    """Why somebody may not decide an approval."""

    WRONG_ROLE = "wrong_role"  # the action does not need what this person could give
    OWN_PROPOSAL = "own_proposal"
    NOT_ENTITLED = "not_entitled"  # the action needs it, and the bundle does not let this person give it
    NOT_ALIKE = "not_alike"  # a batch of different things
    NOT_LOW_RISK = "not_low_risk"  # a batch of what has to be looked at one by one


class ApprovalNotAllowed(Refusal):
    """Wrong role, or one's own proposal."""

    slug, status, title = "approval-not-allowed", 403, "You may not decide this approval"

    def __init__(self, detail: str, reason: NotAllowedReason, **fields: object) -> None:
        super().__init__(detail, reason=reason.value, **fields)
        self.reason = reason


class ApprovalClaimed(Refusal):
    """Somebody else of the staff is deciding it at this moment; `staff` and `until` say who, and how long at most."""

    slug, title = "approval-claimed", "Somebody else is deciding this"


class HandoffClaimed(Refusal):
    """Somebody else of the staff is about to take it, or has it: `staff`, and `until` when at most where known."""

    slug, title = "handoff-claimed", "Somebody else has this handoff"


class DraftStale(Refusal):
    """The draft does not wait any more: it was decided, or its moment has passed.

    `reason` is `decided`, or what superseded it; `wakes` are what the refusal itself has set in motion: a new draft.
    """

    slug, title = "draft-stale", "This draft no longer waits"

    def __init__(self, detail: str, reason: str, wakes: tuple[Wake, ...] = (), **fields: object) -> None:
        super().__init__(detail, reason=reason, **fields)
        self.wakes = wakes


class Forbidden(Refusal):
    """The principal may see it and may not do it."""

    slug, status, title = "forbidden", 403, "Your role does not allow this"


class NotOwned(Refusal):
    """A person must own the conversation (and, for a release, this person) and does not."""

    slug, title = "not-owned", "You do not hold this conversation"


class QueueFull(Refusal):
    """Too many unanswered messages wait in this conversation."""

    slug, status, title = "queue-full", 429, "Too many messages are waiting"


class CannotPropose(Refusal):
    """What was asked for does not fit the account: it names what is not there, or lacks what its kind needs."""

    slug, status, title = "not-proposable", 422, "This action cannot be proposed"


class PolicyForbids(Refusal):
    """Policy forbids the action, whoever consents; it stands in the ledger as denied."""

    slug, title = "policy-forbids", "Policy forbids this action"


class ActionInFlight(Refusal):
    """An action that may have been sent stands in the way until its outcome is known."""

    slug, title = "action-in-flight", "Another action is in flight"


class BundleUnfit(Refusal):
    """A policy bundle does not load, does not fit, or has a case that comes out otherwise: nothing was published."""

    slug, status, title = "bundle-unfit", 422, "This policy bundle cannot be published"
