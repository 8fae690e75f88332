"""The fixed texts of `data/words.<language>.toml` and `data/actions/<kind>.toml`, loaded once, and their filling.

A language that is not spoken is answered in English.
"""

import tomllib
from functools import cache
from pathlib import Path

from language.tongues import FALLBACK, SPOKEN

_SAME = {"canceled": "cancelled"}
_STATUS_CHARS_MAX = 40
_DATA = Path(__file__).parent / "data"


def spoken(language: str) -> str:
    """Return the spoken language that answers `language` (`pt-BR` is answered in `pt`), else English."""
    base = language.casefold().replace("_", "-").partition("-")[0]
    return base if base in SPOKEN else FALLBACK


@cache
def texts(language: str) -> dict[str, str]:
    """Return every text of a spoken language by `section.key`; the texts of a kind of action by `kind.key`."""
    sections = tomllib.loads((_DATA / f"words.{language}.toml").read_text(encoding="utf-8"))
    for kind in sorted((_DATA / "actions").glob("*.toml")):
        sections[kind.stem] = tomllib.loads(kind.read_text(encoding="utf-8"))[language]
    return {f"{section}.{key}": text for section, keys in sections.items() for key, text in keys.items()}


def say(language: str, key: str, **values: str) -> str:
    """Return the text of `key` with its placeholders filled. Raises KeyError for an unknown key or a missing value."""
    return texts(spoken(language))[key].format_map(values)


def status_label(language: str, status: str, thing: str = "order") -> str:
    """Return the word for the status of a thing; an unknown one stands as the business system wrote it, on one line."""
    written = status.casefold().replace(" ", "_").replace("-", "_")
    plain, known = _SAME.get(written, written), texts(spoken(language))
    label = known.get(f"status.{thing}_{plain}") or known.get(f"status.{plain}")
    return label or " ".join(status.replace("_", " ").split())[:_STATUS_CHARS_MAX]
