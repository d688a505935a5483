"""Alembic migrations: forwards only, each safe while the code before it still runs."""
