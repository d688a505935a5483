"""Turn the bytes of an image load file, Opticon (OPT) or IPRO (LFP), into documents and their pages.

Guaranteed: every line that is neither blank, a comment nor another command belongs to exactly one document or rejected
range; a document with a line that cannot be read is rejected as a whole; line numbers are physical lines of the file;
memory does not grow with the file. Not guaranteed: that an image exists, or has the pages that the file declares: no
image is opened here.

`detection` tells the two formats from each other and from a DAT, `splitter` reads the whole file once, `chunk_reader`
reads the documents of a chunk, and `opticon` and `ipro` read one line for both.
"""
