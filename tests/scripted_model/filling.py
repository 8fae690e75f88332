"""An answer in the form that a request asks for: what a script wants to say, completed by the schema that came with it.

Properties that the schema does not know are left out and those that a script has no opinion on get the least value, so
scripts outlive changes of a schema.
"""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def completed(schema: Schema, said: Any, root: Schema | None = None) -> Any:
    """Return `said` in the form of `schema`; where `said` is None, the least that the schema takes."""
    root = schema if root is None else root
    schema = _resolved(schema, said, root)
    match schema.get("type"):
        case "object":
            given = said if isinstance(said, dict) else {}
            return {k: completed(s, given.get(k), root) for k, s in schema.get("properties", {}).items()}
        case "array":
            return [completed(schema.get("items", {}), one, root) for one in said] if isinstance(said, list) else []
        case _:
            return said if _takes(schema, said) else _least(schema)


def _resolved(schema: Schema, said: Any, root: Schema) -> Schema:
    """Follow references, and of several forms take the one that has room for what is said."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return _resolved(root.get("$defs", root.get("definitions", {})).get(name, {}), said, root)
    forms = schema.get("anyOf") or schema.get("oneOf")
    if forms:
        resolved = [_resolved(form, said, root) for form in forms]
        return next((form for form in resolved if _takes(form, said)), resolved[0])
    if isinstance(schema.get("type"), list):
        return _resolved({"anyOf": [{**schema, "type": kind} for kind in schema["type"]]}, said, root)
    return schema


def _takes(schema: Schema, said: Any) -> bool:
    if "enum" in schema:
        return said in schema["enum"]
    if "const" in schema:
        return bool(said == schema["const"])
    kinds: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    return isinstance(said, kinds.get(str(schema.get("type")), object))


def _least(schema: Schema) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    least = {"string": "", "boolean": False, "integer": 0, "number": 0, "null": None}
    return least.get(str(schema.get("type")))
