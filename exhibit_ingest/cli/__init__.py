"""The exhibit-ingest command."""
