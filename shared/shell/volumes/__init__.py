"""Volumes: take in production folders and zips, list and expand them once, and import their load files."""
