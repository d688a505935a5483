"""Comparison of the two locking strategies of custody."""
