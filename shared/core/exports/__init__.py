"""Decide what a file of exported documents, pages, tags or history has: its columns, and how a row is written."""
