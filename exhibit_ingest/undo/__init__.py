"""`exhibit-ingest undo`: undo an import of a stack, wait until it has ended, and say what was kept."""
