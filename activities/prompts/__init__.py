"""Every prompt in its versions: `NAME.vN.md` in this folder, read once, named `NAME@N` and known by its digest.

A version that was evaluated is never edited: a change is a new file. What others wrote goes in by `data`.
"""

import hashlib
import re
from functools import cache
from importlib.resources import files

from domain.base import Noun

_FILE = re.compile(r"([a-z_]+)\.v([1-9]\d*)\.md")


class Prompt(Noun):
    """One version of one prompt."""

    name: str
    version: int
    text: str
    digest: str

    @property
    def ref(self) -> str:
        """`name@version`, as the configuration and the books call it."""
        return f"{self.name}@{self.version}"


@cache
def prompts() -> dict[str, Prompt]:
    """Return every prompt there is, by its ref."""
    found = {}
    for file in files(__name__).iterdir():
        named = _FILE.fullmatch(file.name)
        if named:
            text = file.read_text("utf-8").strip()
            digest = hashlib.sha256(text.encode()).hexdigest()
            prompt = Prompt(name=named[1], version=int(named[2]), text=text, digest=digest)
            found[prompt.ref] = prompt
    return found


def prompt(ref: str) -> Prompt:
    """Return the prompt `name@version`. Raises KeyError where there is none."""
    return prompts()[ref]


def digests() -> dict[str, str]:
    """Return the digest of every prompt, by its ref: what the evaluations in models.toml are held against."""
    return {ref: found.digest for ref, found in prompts().items()}
