"""Generated litigation load files, with the truth about every record.

Guarantees: nothing here imports the importer, and no truth is derived by parsing a generated file.
Does not guarantee: that a vendor ever wrote such a file.
"""
