"""The rejected rows of a load file as their uploader corrects them: in UTF-8 with a byte order mark.

Guaranteed: the text is that of the source, with its delimiters, qualifiers and line ends, whatever its encoding was;
U+FFFD stands for bytes that could not be decoded, which report.csv has in hexadecimal. Editors save UTF-8 as UTF-8,
and many save any other encoding as UTF-8 too, so that the options to reload the rows would be wrong.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from core.load_file.encoding import UTF_8, detect_byte_order_mark
from core.load_file.layout import Layout

ENCODING = UTF_8


def format_header(raw: bytes, layout: Layout) -> bytes:
    """Return the beginning of an error file for the bytes before the source's first row."""
    marked, mark_bytes = detect_byte_order_mark(raw)
    start = mark_bytes if marked in (UTF_8, layout.encoding) else 0
    return codecs.BOM_UTF8 + b"".join(format_record([raw[start:]], layout))


def format_record(pieces: Iterable[bytes], layout: Layout) -> Iterator[bytes]:
    """Yield the text of a record that is given in pieces of any size."""
    decoder = codecs.getincrementaldecoder(layout.encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()
