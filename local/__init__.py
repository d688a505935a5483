"""AWS on one machine: `exhibit-ingest` and the integration tests run the functions on it.

Nothing in this package is deployed, and no deployed module imports it.
"""
