"""The rejected rows of a load file as their uploader corrects them: in UTF-8 with a byte order mark.

Guaranteed: the text is that of the source, with its delimiters, qualifiers and line ends, whatever its encoding was;
U+FFFD stands for bytes that could not be decoded, which report.csv has in hexadecimal. Editors save UTF-8 as UTF-8,
and many save any other encoding as UTF-8 too, so that the options to reload the rows would be wrong.
The text of one more cell is inserted into the header and into each record: the record's line in the source. A record
has the expected number of cells in the error file if and only if it has it in the source.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from core.load_file.chunk_reader import read_chunk
from core.load_file.encoding import CP1252, UTF_8, detect_byte_order_mark, is_wide, replace_surrogates
from core.load_file.field_mapping import LINE_COLUMN
from core.load_file.file_signatures import MAX_HEADER_CHARACTERS
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout
from core.load_file.options import MAX_COLUMNS
from core.load_file.original_lines import format_line, has_line_column

# The end of a record, where the cell is inserted, is held back while its text is written: the last characters, and the
# spaces and line ends after them, which can follow a blank cell or a record whose quoting is damaged.
HELD_CHARACTERS, MAX_HELD_BLANKS = 64, 65_536
_BARE_CR = re.compile(r"\r(?!\n)")


def adds_lines(layout: Layout) -> bool:
    """Return whether the file's error file gets the column of lines.

    The column is not added if there is no header line, if the source already has it, if the delimiter or the qualifier
    is a letter of its name, if there would be too many columns or characters in the header, or for a correction.
    """
    if layout.json_cells:
        return False
    grammar = layout.grammar
    readable = grammar.delimiter not in LINE_COLUMN and (grammar.qualifier or "\n") not in LINE_COLUMN
    few = grammar.cells + grammar.spare_cell < MAX_COLUMNS
    # The bytes before the first row are at least the characters of the header, which the layout does not have.
    short = layout.body_start + len(LINE_COLUMN) <= MAX_HEADER_CHARACTERS
    return layout.has_header and not has_line_column(layout) and readable and few and short


def format_header(raw: bytes, layout: Layout) -> bytes:
    """Return the beginning of an error file for the bytes before the source's first row; that of a correction has none.

    The rejected rows of a correction are JSON Lines, as the correction is.
    """
    if layout.json_cells:
        return b""
    marked, mark_bytes = detect_byte_order_mark(raw)
    start = mark_bytes if marked in (UTF_8, layout.encoding) else 0
    text = "".join(_decode([raw[start:]], layout))
    if adds_lines(layout):
        text = _insert_cell(text, LINE_COLUMN, layout.grammar, is_header=True)
    return codecs.BOM_UTF8 + text.encode()


def format_record(pieces: Iterable[bytes], layout: Layout, line: int | None = None) -> Iterator[bytes]:
    """Yield the text of a record that is given in pieces of any size, with the cell of its line unless that is None.

    Memory does not grow with the record.
    """
    if layout.json_cells:
        yield from pieces
        return
    texts = _decode(pieces, layout)
    if line is not None and adds_lines(layout):
        texts = _append_cell(texts, format_line(line), layout.grammar)
    for text in texts:
        yield text.encode()


def format_records(raw: bytes, layout: Layout, first_line: int) -> Iterator[bytes]:
    """Yield the text of consecutive records, each with the cell of its line; the first physical line is given."""
    at = 0
    for record in read_chunk(raw, layout, first_line, 0) if adds_lines(layout) else ():
        yield from format_record([raw[at : record.byte_start]], layout)
        at = record.byte_start + record.byte_len
        yield from format_record([raw[record.byte_start : at]], layout, record.line_no)
    yield from format_record([raw[at:]], layout)


def _decode(pieces: Iterable[bytes], layout: Layout) -> Iterator[str]:
    # One U+FFFD for each byte, as in the names of columns; "replace" has one for several.
    decoder = codecs.getincrementaldecoder(layout.encoding)(
        "replace" if is_wide(layout.encoding) else "surrogateescape"
    )
    for piece in _strip_mark(iter(pieces)) if layout.encoding == CP1252 else pieces:
        yield replace_surrogates(decoder.decode(piece))
    yield replace_surrogates(decoder.decode(b"", final=True))


def _strip_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces without a byte order mark of UTF-8 at the beginning, which would be three characters."""
    head = b""
    while len(head) < len(codecs.BOM_UTF8) and (piece := next(pieces, None)) is not None:
        head += piece
    yield head.removeprefix(codecs.BOM_UTF8)
    yield from pieces


def _append_cell(texts: Iterable[str], cell: str, grammar: Grammar) -> Iterator[str]:
    """Yield the text of a record with a cell inserted at its end."""
    held = ""
    for text in texts:
        held += text
        body = len(held.rstrip(" \r\n"))
        at = max(0, body - HELD_CHARACTERS, len(held) - MAX_HELD_BLANKS)
        yield held[:at]
        held = held[at:]
    yield _insert_cell(held, cell, grammar, is_header=False)


def _insert_cell(text: str, cell: str, grammar: Grammar, *, is_header: bool) -> str:
    """Return the text of a record with one more cell: the last one, but before the blank cell of a spare delimiter."""
    end = _find_line_ends(text, grammar)
    spare = _compile_spare_cell(grammar, is_header).search(text, 0, end) if grammar.spare_cell else None
    at = spare.start() if spare else end
    quote = (grammar.qualifier or "") if grammar.quoted_start else ""
    return f"{text[:at]}{grammar.delimiter}{quote}{cell}{quote}{text[at:]}"


def _find_line_ends(text: str, grammar: Grammar) -> int:
    """Return where the line ends at the end of a text begin; blank lines may follow a damaged record."""
    body = len(text.rstrip("\r\n"))
    if grammar.cr_ends:
        return body
    # A CR that LF does not follow is data.
    return body + max((cr.end() for cr in _BARE_CR.finditer(text[body:])), default=0)


@lru_cache(maxsize=32)
def _compile_spare_cell(grammar: Grammar, is_header: bool) -> re.Pattern[str]:
    """Return the pattern of the delimiter before a blank last cell; that of a header may hold white space."""
    q, d = re.escape(grammar.qualifier or ""), re.escape(grammar.delimiter)
    inside, bare = (r"\s*", rf"(?:(?!{d})\s)*") if is_header else ("", "")
    quoted = rf"{q}{inside}{q} *|" if q else ""
    return re.compile(rf"{d}(?:{quoted}{bare})\Z")
