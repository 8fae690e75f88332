"""What can keep the embedded stack from running, told so that a person can mend it.

Each fault carries the exit status that `interlock dev` ends with.
"""


class StackFault(Exception):
    """The stack cannot start or go on; the message says why, and what to do."""

    exit_code = 1


class OptionFault(StackFault):
    """An option is wrong, or lacks another."""

    exit_code = 2


class PortFault(StackFault):
    """A port that was asked for is taken."""

    exit_code = 2


class ChildFault(StackFault):
    """A child would not start; `tail` is the end of what it logged."""

    def __init__(self, name: str, why: str, log: str, tail: str) -> None:
        super().__init__(f"{name} {why}. Its log is {log}")
        self.name = name
        self.tail = tail
