"""Decide what belongs to a volume: its load files, the files its rows name, the entries of its zip and their hashes.

Pure: bytes come from a function that the caller gives, files from a list that the caller reads.
"""
