"""Operational faults: something outside is unreachable or slow; to be retried, and warned about.

Refusals are in `refusal`; whatever is neither is a defect and fails loudly.
"""


class OperationalFault(Exception):
    """Something outside did not answer as it should; trying again may help. `code` is a label, never free text."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Unreachable(OperationalFault):
    """A system outside could not be read."""
