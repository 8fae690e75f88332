"""The first schema: conversations, the ledger, people, and the constraints that hold the invariants."""

from store.migrations.run import run_sql

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create it."""
    run_sql("0001_first.sql")
