"""Decide what a check reports about a whole file: Bates numbers, families, natives, ids, names and dates.

Pure: everything is decided from values that the caller gives, in the order that a function states.
`shell.imports.checks` sorts the rows of files of any size into these orders, and describes how the two are used.
"""
