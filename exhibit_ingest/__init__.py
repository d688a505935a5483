"""The command `exhibit-ingest`: check, import, follow and undo load files and volumes, and read what came of them."""
