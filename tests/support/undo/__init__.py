"""Undos of imports, and scripts of imports, edits and undos with their expected result."""
