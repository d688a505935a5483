"""The commands that need the stack of this machine: serve, stop, reset, database-url, token, demo."""
