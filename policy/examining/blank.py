"""A request made from the schema alone: every fact at its plainest, for actions that no case asks about.

Pure.
"""

from collections.abc import Iterator
from typing import Any

from policy.schema import ActionShape, Entity, Record, SetOf, Type

BLANK_ID = "one"


def blanks(action: str, shape: ActionShape) -> Iterator[dict[str, Any]]:
    """Yield a request for `action` for each principal and resource type that it applies to."""
    for principal in sorted(shape.principals):
        for resource in sorted(shape.resources):
            yield {
                "principal": {"type": principal, "id": BLANK_ID},
                "action": {"type": "Action", "id": action},
                "resource": {"type": resource, "id": BLANK_ID},
                "context": _blank(shape.context),
            }


def _blank(of: Type) -> Any:
    """The plainest value of a type: nothing optional is left out, so that a rule which needs it can be met."""
    match of:
        case Record(fields):
            return {name: _blank(field.type) for name, field in fields.items()}
        case SetOf():
            return []
        case Entity(name):
            return {"__entity": {"type": name, "id": BLANK_ID}}
        case None:
            return None
        case plain:
            return plain()
