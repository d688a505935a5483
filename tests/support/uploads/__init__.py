"""Stacks, proxies and processes for the tests of exhibit_ingest.uploads."""
