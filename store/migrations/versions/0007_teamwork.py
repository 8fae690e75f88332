"""What people do around a conversation: tags, notes, assignments, views, presence and ratings."""

from store.migrations.run import run_sql

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add it."""
    run_sql("0007_teamwork.sql")
