"""`exhibit-ingest undo`: undo an import through the API of a stack on this machine."""
