"""Alembic's entry: runs on the connection that `shell.migration_ops` hands it, and on no other."""

from __future__ import annotations

from alembic import context

# Without the models: migrations are written by hand and compare nothing.
context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
