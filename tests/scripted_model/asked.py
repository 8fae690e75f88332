"""One request as a scripted model reads it: what it is to do, in which form, and over which words.

Nothing is validated: a model reads whatever it is given.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_BLOCK = re.compile(r"<<<DATA (\S+) ([^\n>]*)>>>\n(.*?)\n<<<END \1>>>", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """The `n`-th request since the script was switched."""

    n: int
    body: Json

    @property
    def model(self) -> str:
        """Which model is wanted."""
        return str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        """Whether the answer is wanted piece by piece."""
        return bool(self.body.get("stream"))

    @property
    def schema(self) -> Json:
        """The JSON schema that the answer must have, from its own field or out of the instructions."""
        response_format = self.body.get("response_format")
        named = response_format.get("json_schema") if isinstance(response_format, dict) else None
        found = named.get("schema") if isinstance(named, dict) else _last_object(self.instructions)
        return found if isinstance(found, dict) else {}

    @property
    def instructions(self) -> str:
        """What the operator says."""
        return "\n".join(_text(m) for m in self._messages if m.get("role") in ("system", "developer"))

    @property
    def data(self) -> str:
        """What everybody else says."""
        return "\n".join(_text(m) for m in self._messages if m.get("role") not in ("system", "developer"))

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """The marked data: what each block is called, and its text."""
        return [(name.strip(), text) for _, name, text in _BLOCK.findall(self.data)]

    @property
    def drafts(self) -> bool:
        """Whether a reply is wanted; otherwise it is what a customer means."""
        return "segments" in self.schema.get("properties", {})

    @property
    def whole(self) -> str:
        """Every word of it."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def _messages(self) -> list[Json]:
        found = self.body.get("messages")
        return [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []


def _text(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _last_object(text: str) -> Any:
    """The JSON object that a text ends with, where it does."""
    for begin in (match.start() for match in re.finditer(r"^\{", text, re.MULTILINE)):
        try:
            return json.loads(text[begin:])
        except ValueError:
            continue
    return None
