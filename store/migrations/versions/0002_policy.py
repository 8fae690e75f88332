"""Policy that finance can trust: publications, the audit chain, claims on approvals, staff's own actions, switches."""

from store.migrations.run import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add it."""
    run_sql("0002_policy.sql")
