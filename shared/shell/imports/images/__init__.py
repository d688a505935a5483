"""Import chunks of image load files: each document's pages exactly once, under the document's lock."""
