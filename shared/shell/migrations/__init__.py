"""Alembic migrations: upgrade only, each safe while the previous version's code still runs."""
