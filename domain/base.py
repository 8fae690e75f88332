"""What every noun is made of: one frozen model class and one canonical digest.

Pure; a digest depends on content alone, never on field order or process.
"""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict


class Noun(BaseModel):
    """A frozen value that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def digest_of(content: Any) -> str:
    """Return the SHA-256 hex digest of JSON-able `content` in canonical form (sorted keys, no spaces)."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
