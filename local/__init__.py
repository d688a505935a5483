"""AWS on one machine: what `exhibit-ingest` and the integration tests run the functions on.

Nothing here is deployed, and nothing that is deployed imports it.
"""
