"""The models.toml of the package with other figures, for tests and benches that ask a model of their own.

Everything that is not changed here stays as it is shipped.
"""

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

Tables = dict[str, Any]


def shipped() -> Tables:
    """Return the models.toml of the package."""
    return tomllib.loads((files("connectors.model_endpoints") / "models.toml").read_text("utf-8"))


def write_models_file(path: Path, *, call_timeout_s: float, **of_each_model: str) -> Path:
    """Write it with circuits that stay closed, so much time for each call, and the fields given in every model."""
    book = shipped()
    for endpoint in book["endpoints"].values():
        endpoint["failures_to_open"] = 100
    for one in book["models"].values():
        one.update(of_each_model)
    for routes in book["roles"].values():
        for use in routes.values():
            use["call_timeout_s"] = call_timeout_s
    path.write_text("\n".join(_lines(book)))
    return path


def _lines(table: Tables, name: str = "") -> list[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    own = [f"{json.dumps(key)} = {_value(value)}" for key, value in table.items() if key not in inner]
    head = [f"[{name}]"] if name and own else []
    return head + own + [line for key, value in inner.items() for line in _lines(value, _joined(name, key))]


def _joined(name: str, key: str) -> str:
    return f"{name}.{json.dumps(key)}" if name else json.dumps(key)


def _value(value: Any) -> str:
    """A TOML value; JSON's strings, numbers, booleans and lists of them are TOML's too, and dates stand bare."""
    return json.dumps(value) if isinstance(value, str | int | float | list) else str(value)
