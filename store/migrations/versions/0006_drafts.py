"""Drafts that wait for a person, and what became of them."""

from store.migrations.run import run_sql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add it."""
    run_sql("0006_drafts.sql")
