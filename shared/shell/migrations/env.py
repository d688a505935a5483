"""Alembic's entry: runs on the connection that `shell.migration_ops` hands it, and on no other."""

from __future__ import annotations

from alembic import context

from shell.tables import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
