"""Litigation load files made by this project itself, with the truth about every record beside them.

Guarantees: nothing here imports the importer, and no truth is found by parsing what was written.
Does not guarantee: that a vendor ever wrote such a file.
"""
