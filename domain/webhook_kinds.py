"""The closed lists of webhooks: what is told, how a delivery stands, why a try did not deliver.

Apart from `webhook`, so that the command line can name them before it loads anything.
"""

from enum import StrEnum


class WebhookType(StrEnum):
    """What a webhook may be told of."""

    REPLY = "reply"
    TAG = "tag"
    HANDOFF = "handoff"
    ACTION = "action"


class DeliveryState(StrEnum):
    """How a delivery stands. `seen`: the customer had read the reply here, so that nobody needed to be told."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    SEEN = "seen"
    DEAD = "dead"


class DeliveryFault(StrEnum):
    """Why a try did not deliver."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"  # no address, no connection, or one that broke off
    FORBIDDEN_ADDRESS = "forbidden_address"  # plain http, or an address that is not public
    REDIRECTED = "redirected"  # what is signed for one address is not carried to another
    ANSWERED = "answered"  # with a status that is no yes
    GONE = "gone"  # 410: the receiver wants no more of it
    NO_SECRET = "no_secret"  # noqa: S105  the name of a fault
    DEFECT = "defect"  # of ours: it could not be put into words
    REMOVED = "removed"  # the webhook was taken away before it was tried
