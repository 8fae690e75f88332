"""Whether a model's text is an answer: one JSON object in the shape asked for, to which there is no objection.

Pure; what is wrong is said in our own words, so that nothing that a model wrote comes back as an instruction.
"""

from collections.abc import Callable

from pydantic import ValidationError

from connectors.model_endpoints.answers import object_in
from domain.model_task import Shape

Objection = Callable[[Shape], str | None]
"""What is wrong with an answer of the right shape, in our own words; None: nothing."""

NOT_JSON, NOT_IN_SHAPE, OBJECTED = "not_json", "not_in_shape", "objected"
_TOLD_MAX = 6


class Misfit(Exception):
    """A text that is no answer: a label for the books, and what was wrong for the model."""

    def __init__(self, label: str, told: str) -> None:
        super().__init__(label)
        self.label, self.told = label, told


def fitted(text: str, shape: type[Shape], objection: Objection[Shape] | None) -> Shape:
    """Return the answer in `text`. Raises Misfit."""
    found = object_in(text)
    if found is None:
        raise Misfit(NOT_JSON, "It was not one JSON object.")
    try:
        answer = shape.model_validate(found)
    except ValidationError as fault:
        raise Misfit(NOT_IN_SHAPE, " ".join(_faults(fault))) from None
    told = objection(answer) if objection is not None else None
    if told is not None:
        raise Misfit(OBJECTED, told)
    return answer


def mended(instructions: str, told: str) -> str:
    """Return the instructions for another attempt at the same task."""
    return f"{instructions}\n\nYour last answer could not be used. {told} Answer again, heeding that."


def _faults(fault: ValidationError) -> list[str]:
    errors = fault.errors(include_input=False, include_url=False, include_context=False)
    return [_fault(error["type"], error["loc"]) for error in errors[:_TOLD_MAX]]


def _fault(kind: str, loc: tuple[int | str, ...]) -> str:
    """One complaint; the name of a field that does not exist is the model's own word, and is left out."""
    known = loc[:-1] if kind == "extra_forbidden" else loc
    place = ".".join(str(part) for part in known) or "the object"
    return f"At {place}: {kind.replace('_', ' ')}."
