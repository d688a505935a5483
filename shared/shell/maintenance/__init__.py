"""Migrate the schema, delete what has expired, and prepare a restored database."""
