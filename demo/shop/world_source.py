"""Where this shop's world comes from: made, or from a file; asked at the first start and at every reset.

The clock is read here and nowhere in the generator.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from demo.shop.database import replace_world
from demo.shop.shapes import World
from demo.shop.world import make_world
from demo.shop.world_file import WorldFileError, read_world


@dataclass(frozen=True)
class WorldSource:
    """A world file, or None for the generated world."""

    path: Path | None = None
    retail_tenant: str = "retail"

    def fresh(self) -> World:
        """A complete world as of now. Raises WorldFileError."""
        now = datetime.now(UTC)
        return read_world(self.path, now, self.retail_tenant) if self.path else make_world(now)

    def load_into(self, db: sqlite3.Connection) -> None:
        """Replaces whatever the shop holds. Raises WorldFileError, also where the file contradicts itself."""
        world = self.fresh()
        try:
            replace_world(db, world)
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise WorldFileError(f"world file {self.path}: it contradicts itself: {error}") from error
