"""What a connector promises, and the three ways a business call can end (design §5).

A contract is declared by the connector and read by reconciliation; nothing is assumed that it does not state.
"""

from datetime import datetime
from enum import StrEnum

from domain.base import Noun

# The most that may pass between a claim and the first byte on the wire. It is kept by `CLAIM_TO_WIRE_MAX_S` in
# `activities/executing.py` (claim to connector) and by each connector's own bound (connector to wire), which together
# stay below it; what is left over is for clocks that differ.
SEND_MARGIN_S = 10


class ConnectorContract(Noun):
    """Idempotency and look-up as the provider documents them; None where nothing is promised."""

    name: str
    key_window_s: int | None  # W: how long keys are kept; None: keys are ignored
    refusals_kept: bool  # whether refusals are replayed under the key
    lookup_lag_s: int | None  # L: None where there is no look-up by our operation id
    late_commit_bound_s: int | None  # D: None where no bound is known
    evidence_max_age_s: int = 60
    send_margin_s: int = SEND_MARGIN_S  # from a claim to the first byte: D begins no later than this after a claim

    @property
    def late_effect_s(self) -> int | None:
        """Seconds after its last claim within which a request can still take effect; None where no bound is known."""
        return None if self.late_commit_bound_s is None else self.send_margin_s + self.late_commit_bound_s


class OutcomeKind(StrEnum):
    """A definite success, a definite refusal, or unknown. There is no fourth."""

    SUCCESS = "success"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"


class WriteOutcome(Noun):
    """How a business write ended. `code` is a label of the provider or of the transport, never free text."""

    kind: OutcomeKind
    code: str
    external_id: str | None = None
    at: datetime | None = None


class LookupKind(StrEnum):
    """What a look-up by operation id found."""

    COMMITTED = "committed"
    REFUSED = "refused"
    NOT_FOUND = "not_found"


class Lookup(Noun):
    """The answer of a look-up. `amount_minor` is what the provider says was moved."""

    kind: LookupKind
    external_id: str | None = None
    code: str | None = None
    amount_minor: int | None = None
    currency: str | None = None
