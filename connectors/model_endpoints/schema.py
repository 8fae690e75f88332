"""The JSON schema of a shape in the dialect that strict structured outputs take.

Pure; bounds that endpoints do not know are left out here and held when the answer is validated.
"""

from typing import Any

from pydantic import BaseModel

_LEFT_OUT = frozenset(
    {
        "default", "title", "examples", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems",
        "uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "discriminator",
    }
)  # fmt: skip


def strict_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of `shape`: every field required, no other allowed, `oneOf` as `anyOf`."""
    plain = _strict(shape.model_json_schema())
    assert isinstance(plain, dict)
    return plain


def _strict(part: Any) -> Any:
    if isinstance(part, list):
        return [_strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    kept: dict[str, Any] = {}
    for key, value in part.items():
        if key in ("properties", "$defs"):  # here a key is somebody's name, and no keyword
            kept[key] = {name: _strict(inner) for name, inner in value.items()}
        elif key in ("const", "enum"):
            kept["enum"] = [value] if key == "const" else value
        elif key not in _LEFT_OUT:
            kept["anyOf" if key == "oneOf" else key] = _strict(value)
    if "properties" in kept:
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept
