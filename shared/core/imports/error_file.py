"""The rejected rows of a load file as their uploader corrects them: in UTF-8 with a byte order mark.

Guaranteed: the text is that of the source, with its delimiters, qualifiers and line ends, whatever its encoding was;
U+FFFD stands for bytes that could not be decoded, which report.csv has in hexadecimal. Editors save UTF-8 as UTF-8,
and many save any other encoding as UTF-8 too, so that the options to reload the rows would be wrong.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from core.load_file.encoding import CP1252, UTF_8, detect_byte_order_mark, is_wide, replace_surrogates
from core.load_file.layout import Layout

ENCODING = UTF_8


def format_header(raw: bytes, layout: Layout) -> bytes:
    """Return the beginning of an error file for the bytes before the source's first row."""
    marked, mark_bytes = detect_byte_order_mark(raw)
    start = mark_bytes if marked in (UTF_8, layout.encoding) else 0
    return codecs.BOM_UTF8 + b"".join(format_record([raw[start:]], layout))


def format_record(pieces: Iterable[bytes], layout: Layout) -> Iterator[bytes]:
    """Yield the text of a record that is given in pieces of any size."""
    # One U+FFFD for each byte, as in the names of columns; "replace" has one for several.
    decoder = codecs.getincrementaldecoder(layout.encoding)(
        "replace" if is_wide(layout.encoding) else "surrogateescape"
    )
    for piece in _strip_mark(iter(pieces)) if layout.encoding == CP1252 else pieces:
        yield replace_surrogates(decoder.decode(piece)).encode()
    yield replace_surrogates(decoder.decode(b"", final=True)).encode()


def _strip_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces without a byte order mark of UTF-8 at the beginning, which would be three characters."""
    head = b""
    while len(head) < len(codecs.BOM_UTF8) and (piece := next(pieces, None)) is not None:
        head += piece
    yield head.removeprefix(codecs.BOM_UTF8)
    yield from pieces
