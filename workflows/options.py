"""Timeouts and retry policies of every activity, in one table.

Database and rule steps run locally first, then patiently as ordinary activities; business writes run once.
"""

from dataclasses import dataclass
from datetime import timedelta

from temporalio.common import RetryPolicy

from domain.errand import Errand

LOCAL_TIMEOUT = timedelta(seconds=5)
LOCAL_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=50), backoff_coefficient=2, maximum_attempts=2)

PATIENT_TIMEOUT = timedelta(seconds=20)
PATIENT_RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=500), backoff_coefficient=2, maximum_interval=timedelta(seconds=15)
)  # no end: a database that is down comes back, and nothing may be lost meanwhile

ONCE = RetryPolicy(maximum_attempts=1)


@dataclass(frozen=True)
class Remote:
    """How an ordinary activity runs."""

    start_to_close: timedelta
    schedule_to_start: timedelta | None
    heartbeat: timedelta | None
    retry: RetryPolicy


REFRESH_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=2),
    backoff_coefficient=3,
    maximum_interval=timedelta(minutes=1),
    maximum_attempts=5,
)

# INVARIANT 2: Temporal never retries a business write; what has become of it is read from the ledger.
REMOTE: dict[Errand, Remote] = {
    Errand.DISPATCH_ACTION: Remote(timedelta(seconds=25), timedelta(seconds=20), timedelta(seconds=4), ONCE),
    Errand.RESEND_ACTION: Remote(timedelta(seconds=25), timedelta(seconds=20), timedelta(seconds=4), ONCE),
    Errand.LOOK_UP_ACTION: Remote(timedelta(seconds=20), None, None, PATIENT_RETRY),
    Errand.REFRESH_TRACKING: Remote(timedelta(seconds=10), None, None, REFRESH_RETRY),
}

# Turns
ROUNDS_MAX = 3  # drafts dropped for a newer message before one is published all the same
AWAIT_OUTCOME_POLL = timedelta(seconds=30)

# Waiting for a resource, for a message to be considered, for a fresh read
RESERVE_BACKOFF_FIRST = timedelta(milliseconds=250)
RESERVE_BACKOFF_MAX = timedelta(seconds=30)
DISPATCH_AGAIN_AFTER = timedelta(seconds=1)  # of a reservation that nobody has claimed

# Reconciliation: soon at first, then ever more slowly; hourly once a person has it
LOOK_UP_FIRST = timedelta(milliseconds=750)
LOOK_UP_BACKOFF_MAX = timedelta(seconds=60)
LOOK_UP_WITH_A_PERSON = timedelta(hours=1)

# Between two refreshes of one parcel's tracking, whoever asks for it
REFRESH_NOT_AGAIN_WITHIN = timedelta(minutes=10)

# After a defect of ours, and where two clocks do not agree
AFTER_A_DEFECT = timedelta(seconds=30)
CLOCKS_APART = timedelta(seconds=1)
