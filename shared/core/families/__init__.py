"""Decide which document is the parent of another, from what the rows of load files state about their families."""
