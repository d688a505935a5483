"""Serve the HTTP API: check role and cases, validate requests, run each change once per key, describe problems."""
