"""Publish each committed event at least once, in order per aggregate."""
