"""What models were asked and what it took: one row a call, without a word of what was said."""

from store.migrations.run import run_sql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add it."""
    run_sql("0004_models.sql")
