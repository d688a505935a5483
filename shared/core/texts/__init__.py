"""Texts of documents in the cells of load files: what the text of a row is, and the objects that hold many of them."""
