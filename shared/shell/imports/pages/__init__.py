"""Reconcile the pages of an image load file with the ranges and page counts that its data file states.

Guaranteed: what is found depends on the two files alone, and not on the order of their chunks, on what the case held,
or on earlier attempts; a check and the import after it find the same. Memory does not grow with the files. Findings
belong to the import of the images, and say which generations of which imports were compared.
"""
