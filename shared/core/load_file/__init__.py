"""Turn the bytes of a load file into records and rows: encoding, dialect, record boundaries, chunks, cell values.

`dialect` reads the beginning of a file, `splitter` reads the whole file once, `record_reader` reads lines into cells
for the splitter and for the chunks, and `layout` holds what the splitter decides for every chunk.
"""
