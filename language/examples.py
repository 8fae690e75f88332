"""The examples that the heads are trained from: read, checked and named by a digest.

One JSON object a line, in `data/examples/<language>.jsonl` and `extra.<language>.jsonl`; docs/understanding.md
tells its keys.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from domain.base import Noun, digest_of
from domain.understanding import Intent

EXAMPLES_DIR = Path(__file__).parent / "data" / "examples"


class ExamplesInvalid(ValueError):
    """A line of the examples is not one; the message names the file, the line and what is wrong."""


class Example(Noun):
    """What somebody may write, and what it means."""

    text: str = Field(min_length=1)
    intents: tuple[Intent, ...] = Field(min_length=1)
    person: bool = False
    information: bool = False
    urgent: bool = False
    language: str = "und"


def examples_in(folder: Path = EXAMPLES_DIR) -> tuple[Example, ...]:
    """Return every example of `folder` in a fixed order. Raises ExamplesInvalid."""
    found = [example for path in sorted(folder.glob("*.jsonl")) for example in _read(path)]
    if not found:
        raise ExamplesInvalid(f"{folder}: there are no examples (*.jsonl)")
    return tuple(found)


def digest_over(examples: Sequence[Example]) -> str:
    """Return the digest that names exactly these examples, in this order."""
    return digest_of([example.model_dump(mode="json") for example in examples])


def _read(path: Path) -> list[Example]:
    language = path.stem.rpartition(".")[2]
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            example = Example(**json.loads(line), language=language)
        except (ValidationError, ValueError, TypeError) as fault:
            raise ExamplesInvalid(f"{path.name}, line {number}: {_plainly(fault)}") from None
        found.append(
            example.model_copy(update={"person": True}) if Intent.ASKS_FOR_PERSON in example.intents else example
        )
    return found


def _plainly(fault: Exception) -> str:
    if not isinstance(fault, ValidationError):
        return str(fault)
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in fault.errors(include_input=False))
