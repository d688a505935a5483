"""`exhibit-ingest custody` and `devices`: who held a device from when to when, and who recorded it."""
