"""A tenant's service desk: its hours, targets and skills, and what waits for people in order of urgency."""

from store.migrations.run import run_sql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add it."""
    run_sql("0005_desk.sql")
