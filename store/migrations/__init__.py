"""Alembic migrations: each is a SQL file beside a module that runs it."""
