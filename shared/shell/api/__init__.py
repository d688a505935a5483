"""Serve the HTTP API: validate requests, run each change once per key, describe problems (RFC 9457)."""
