"""The stage that each conversation began in, so that numbers can be told apart by it."""

from store.migrations.run import run_sql

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add it."""
    run_sql("0009_numbers.sql")
