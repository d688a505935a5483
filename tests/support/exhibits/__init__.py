"""Exhibits put into the database past the application, and the history that is kept of them."""
