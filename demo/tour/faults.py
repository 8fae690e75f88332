"""The two ways in which a tour goes wrong: it cannot be played, or a scene did not go as it should.

Both carry one line for the person who watches.
"""


class CannotPlay(Exception):
    """There is no stack to play against, or it has gone."""


class SceneFault(Exception):
    """Something that had to happen did not, or was answered otherwise."""
