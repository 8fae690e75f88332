"""Alembic's entry: runs the migrations over the owner's connection that `store.migrate` hands in.

There is no offline mode and no ini file: the product migrates itself.
"""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
