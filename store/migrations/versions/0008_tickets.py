"""Tickets and webhooks: secrets, what came in, and what is to be delivered."""

from store.migrations.run import run_sql

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add it."""
    run_sql("0008_tickets.sql")
