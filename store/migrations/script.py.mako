"""${message}."""

from store.migrations.run import run_sql

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Apply it."""
    run_sql("${up_revision}.sql")
