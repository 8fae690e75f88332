"""The refusals that are the gateway's own: who you are, what you sent, how often; beside those of the domain.

Each becomes a problem document of its slug; `pages` explains every one of them.
"""

from domain.refusal import Refusal


class Unauthenticated(Refusal):
    """No token, or none that is valid now; which of the two is all that the caller learns."""

    slug, status, title = "unauthenticated", 401, "A valid token is needed"


class BadSignature(Refusal):
    """What came signed by nobody who may: which part of it does not fit is told to none."""

    slug, status, title = "bad-signature", 401, "The signature does not fit"


class CustomerBlocked(Refusal):
    """The tenant has blocked this customer."""

    slug, status, title = "customer-blocked", 403, "This account is blocked"


class MalformedJson(Refusal):
    """The body is not JSON at all."""

    slug, status, title = "malformed-json", 400, "The body is not valid JSON"


class BadIdempotencyKey(Refusal):
    """The header is there and cannot be a key."""

    slug, status, title = "bad-idempotency-key", 400, "This Idempotency-Key cannot be used"


class MethodNotAllowed(Refusal):
    """The path exists, and not for this method."""

    slug, status, title = "method-not-allowed", 405, "This method is not allowed here"


class RequestTimeout(Refusal):
    """The body did not come in time."""

    slug, status, title = "request-timeout", 408, "The body did not come in time"


class BodyTooLarge(Refusal):
    """More bytes than are ever read."""

    slug, status, title = "body-too-large", 413, "The body is too large"


class UnsupportedMediaType(Refusal):
    """Something other than JSON in UTF-8."""

    slug, status, title = "unsupported-media-type", 415, "Send application/json"


class InvalidRequest(Refusal):
    """JSON, but not what this request takes."""

    slug, status, title = "invalid-request", 422, "The request is not valid"


class IdempotencyConflict(Refusal):
    """The same Idempotency-Key came with another request."""

    slug, title = "idempotency-conflict", "This Idempotency-Key was used for another request"


class IdempotencyInProgress(Refusal):
    """The first request under this Idempotency-Key has not been answered yet."""

    slug, title = "idempotency-in-progress", "The first request under this key is still running"


class RateLimited(Refusal):
    """More requests than one principal, or one tenant, may make."""

    slug, status, title = "rate-limited", 429, "Too many requests"


class TooManyStreams(Refusal):
    """More event streams than one principal, or this process, may hold."""

    slug, status, title = "too-many-streams", 429, "Too many event streams are open"


class Unavailable(Refusal):
    """Something that is needed does not answer now: nothing was decided, and a repeat is safe."""

    slug, status, title = "unavailable", 503, "Not available right now"


class Defect(Refusal):
    """A fault of ours. Nothing of it is told but the request's id."""

    slug, status, title = "defect", 500, "Something went wrong on our side"
