"""Undo imports: restore what they changed, and remove the documents that they created."""
