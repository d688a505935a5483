"""The database as tests use it: schemas and users of their own, dumps, commits, and what the server is doing."""
