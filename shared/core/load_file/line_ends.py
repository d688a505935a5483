"""Detect whether the lines of a file end in CR alone, as old Macintosh programs and Excel's Macintosh formats end them.

Guaranteed: the answer is yes only if the first record ends in CR and LF ends no other record of the sample but the
last; LF may stand in quoted cells. A file in which both could end records is refused, unless its rows fit its header
when they are read up to LF: then a CR is data. The option `line_ends` decides instead, but does not join the header
and the rows of a file in which nothing but CR ends them: an editor may have saved it so since the option was written.
"""

from __future__ import annotations

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file import encoding as enc
from core.load_file.delimiters import count_cells, detect_delimiter_and_qualifier
from core.load_file.grammar import Grammar, LineCursor
from core.load_file.options import CR, LF, ImportOptions
from core.load_file.record_reader import read_records

SAMPLE_BYTES = 256 * 1024
SAMPLE_LINES = 50


def detect_cr_ends(sample: bytes, view: str, options: ImportOptions) -> bool:
    """Return whether CR alone ends the lines; raise FileRefusedError (UNSUPPORTED_LINE_ENDS) if that is ambiguous."""
    if options.line_ends is not None and (options.line_ends == CR or not options.header):
        # Without a header, a CR of the only row would pass for its end.
        return options.line_ends == CR
    lines = enc.split_lines(sample, view, cr_ends=True).slice_from((options.header_line or 1) - 1)
    if not any(text.endswith("\r") for text in lines.texts):
        return False
    at_end = len(sample) < SAMPLE_BYTES
    ends = _find_record_ends(lines, at_end, *detect_delimiter_and_qualifier(_select_lines(lines), options))
    if not ends or ends[0] == "\n":
        return False
    if "\n" not in ends[:-1]:
        return True
    if options.line_ends == LF or _fits_header_at_lf(
        take_sample_lines(sample, view, cr_ends=False, options=options), options
    ):
        return False
    message = "Some lines end in CR alone and some in LF. Save the file with CRLF or LF line ends."
    raise FileRefusedError(FileFailure.UNSUPPORTED_LINE_ENDS, message)


def take_sample_lines(sample: bytes, view: str, cr_ends: bool, options: ImportOptions) -> list[str]:
    """Return the first lines from the header on that are not blank, without their line ends."""
    # A full sample may end in the middle of a line; a shorter one is the whole file.
    end = len(sample) if len(sample) < SAMPLE_BYTES else enc.find_last_line_end(sample, view, cr_ends) or len(sample)
    return _select_lines(enc.split_lines(sample[:end], view, cr_ends).slice_from((options.header_line or 1) - 1))


def _select_lines(lines: enc.Lines) -> list[str]:
    texts = (text[enc.skip_marks(text, lines.mark) :] for text in lines.texts[:SAMPLE_LINES])
    return [text.rstrip("\r\n") for text in texts if text.strip().strip("\x1a\0")]


def _find_record_ends(lines: enc.Lines, at_end: bool, delimiter: str, qualifier: str | None) -> list[str]:
    """Return the last character of every record; of a sample that goes on, without the record that it cuts."""
    cells = next((text for text in lines.texts if text.strip()), "").count(delimiter) + 1
    grammar = Grammar(delimiter, qualifier, cells, cr_ends=True)
    records = read_records(lines, grammar, at_end=at_end, cursor=LineCursor())
    return [lines.texts[record.first + record.lines - 1][-1] for record in records]


def _fits_header_at_lf(lines: list[str], options: ImportOptions) -> bool:
    """Return whether most rows, read up to LF, have as many cells as the header, and more than one."""
    first, *others = count_cells(lines, detect_delimiter_and_qualifier(lines, options)[0]) or [0]
    return first > 1 and 2 * others.count(first) > len(others) > 0
