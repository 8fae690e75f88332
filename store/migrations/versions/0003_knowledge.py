"""Knowledge: what an article is for, whom it fits, who has reviewed it, and the passages that a search finds."""

from store.migrations.run import run_sql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add it."""
    run_sql("0003_knowledge.sql")
