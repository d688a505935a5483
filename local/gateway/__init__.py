"""Serve the HTTP API as API Gateway does: tokens, routes and events."""
