"""Bytes to records: encoding, dialect, record boundaries, chunks.

`dialect` looks at a file's beginning, `splitting` goes over the whole of it once, `records` reads lines into cells for
both the splitter and the chunks, and `layout` is what the splitter decides and every chunk obeys.
"""
