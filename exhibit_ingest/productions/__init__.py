"""`exhibit-ingest produce` and `productions`: deliver documents under Bates numbers, and get the volume."""
