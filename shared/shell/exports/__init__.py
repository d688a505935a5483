"""Export the documents of a case, their pages, tags or history to one file, in parts that a killed worker repeats.

Guaranteed: the file is there as a whole or not at all; each part shows its documents at one instant. Not guaranteed:
that two parts show the same instant.
"""
