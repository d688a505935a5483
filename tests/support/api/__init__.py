"""Clients of the HTTP API: in this process, in many, and as a WSGI application."""
