"""Detect the delimiter and the qualifier of a file from its first lines; options of the uploader override detection."""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from typing import NamedTuple

from core.load_file import encoding as enc
from core.load_file.grammar import Grammar, LineCursor, Record
from core.load_file.options import NO_CHARACTER, ImportOptions
from core.load_file.record_reader import read_records

DC4, THORN = "\x14", "\u00fe"
# The first line which names the delimiter to Excel; only characters that option 'delimiter' accepts.
_SEPARATOR_LINE = re.compile('"?sep=([^\\w"\r\n\0 \ud800-\udfff])"?', re.IGNORECASE)
THORN_LINES = 50
DELIMITERS = (DC4, "\t", "|", ";", ",")


class Sign(StrEnum):
    """What shows how a file is written."""

    GIVEN = "given"
    BYTE_ORDER_MARK = "byte_order_mark"
    SEPARATOR_LINE = "separator_line"
    THORNS = "thorns"
    FIRST_LINES = "first_lines"
    CHARACTERS = "characters"


class Signs(NamedTuple):
    """What shows the encoding (CHARACTERS: that of all characters), the delimiter and the qualifier of a file."""

    encoding: Sign
    delimiter: Sign
    qualifier: Sign


def detect_delimiter_and_qualifier(lines: list[str], options: ImportOptions) -> tuple[str, str | None]:
    """Return the delimiter and the qualifier (None: no qualifier) of the lines, given without their line ends."""
    return explain_delimiter_and_qualifier(lines, options)[:2]


def explain_delimiter_and_qualifier(lines: list[str], options: ImportOptions) -> tuple[str, str | None, Sign, Sign]:
    """Return the delimiter and the qualifier (None: no qualifier), and what shows each of them."""
    separator = find_separator(lines[0]) if lines else None
    lines = lines[1:] if separator else lines
    thorns = is_sign_present([line.startswith(THORN) or DC4 + THORN in line for line in lines])
    if options.delimiter is not None:
        delimiter, sign = options.delimiter, Sign.GIVEN
    elif separator:
        delimiter, sign = separator, Sign.SEPARATOR_LINE
    elif thorns or any(DC4 in line for line in lines[:1]):
        delimiter, sign = _find_delimiter_between_thorns(lines), Sign.THORNS
    else:
        delimiter, sign = _find_most_consistent_delimiter(lines), Sign.FIRST_LINES
    if options.qualifier is not None:
        return delimiter, None if options.qualifier == NO_CHARACTER else options.qualifier, sign, Sign.GIVEN
    if thorns or delimiter == DC4:
        return delimiter, THORN, sign, Sign.THORNS
    return delimiter, _find_qualifier(delimiter, lines), sign, Sign.FIRST_LINES


def find_separator(line: str) -> str | None:
    """Return the delimiter that a line such as `sep=;` names to Excel; None for any other line."""
    named = _SEPARATOR_LINE.fullmatch(line)
    return named[1] if named else None


def detect_thorn_encoding(sample: bytes) -> str | None:
    """Return the encoding in which thorns enclose the cells of the first lines; None if none do."""
    lines = [line for line in re.split(rb"[\r\n]+", sample, maxsplit=THORN_LINES)[:THORN_LINES] if line]
    if is_sign_present([_is_used_as_qualifier(line, b"\xc3\xbe") for line in lines]):
        return enc.UTF_8
    if is_sign_present([_is_used_as_qualifier(line, b"\xfe") for line in lines]):
        return enc.CP1252
    return None


def _is_used_as_qualifier(line: bytes, mark: bytes) -> bool:
    return line.startswith(mark) or (b"\x14" + mark) in line or (mark + b"\x14") in line or (mark + b";" + mark) in line


def _find_delimiter_between_thorns(lines: list[str]) -> str:
    if any(DC4 in line for line in lines):
        return DC4
    # Only characters that option 'delimiter' accepts: the options to reload the rejected rows contain the delimiter.
    between = Counter(re.findall(f"{THORN}([^\\w{THORN}\r\n\0 \ud800-\udfff]){THORN}", "\n".join(lines)))
    return between.most_common(1)[0][0] if between else DC4


def is_sign_present(lines: list[bool]) -> bool:
    """Return whether a sign of a qualifier is on the first line or on most lines; on a few it may be text."""
    return bool(lines) and (lines[0] or 2 * sum(lines) > len(lines))


def _find_qualifier(delimiter: str, lines: list[str]) -> str | None:
    carets, quotes = (_find_enclosed_cells(mark, delimiter, lines) for mark in ("^", '"'))
    # A header with carets has them from its first cell on.
    if is_sign_present([caret and (number > 0 or lines[0][0] == "^") for number, caret in enumerate(carets)]) and sum(
        carets
    ) > sum(quotes):
        return "^"
    return '"' if delimiter != "|" or _are_pipes_quoted(lines, quotes) else None


def _are_pipes_quoted(lines: list[str], quotes: list[bool]) -> bool:
    """Return whether quotation marks in a pipe-delimited file are qualifiers; otherwise, later ones are text too.

    Many writers of these files quote nothing. Qualifiers are on the header or most lines; or make more records fit the
    header than there are rows without them; or as many, if then every record fits it and some enclose line ends or
    doubled qualifiers. Marks that would enclose rows, such as two ditto marks in a column, make fewer records fit.
    """
    if is_sign_present(quotes):
        return True
    records = _read_records(lines, "|", '"')
    cells = lines[0].count("|") + 1 if lines else 1
    if records and len(records[-1].cells or []) != cells:
        # The end of the sample may have cut it.
        lines = lines[: records.pop().first]
    fits = [len(record.cells or []) == cells for record in records]
    gained = sum(fits) - sum(_count_rows(lines[each.first : each.first + each.lines], cells) for each in records)
    return gained > 0 or (gained == 0 and all(fits) and _enclose_more_than_text(records, lines))


def _count_rows(lines: list[str], cells: int) -> int:
    """Return how many lines of a record fit the header by themselves; 0 if most do not, as those of a text."""
    count = sum(line.count("|") + 1 == cells for line in lines)
    return count if 2 * count > len(lines) else 0


def _enclose_more_than_text(records: list[Record], lines: list[str]) -> bool:
    """Return whether quotation marks enclose line ends or doubled ones, in the records that lines are read into."""
    text = "\n".join(lines)
    inside = (cell for record in records for cell in record.cells or [] if '"' in cell)
    return len(records) < len(lines) or any(cell.replace('"', '""') in text for cell in inside)


def _find_enclosed_cells(mark: str, delimiter: str, lines: list[str]) -> list[bool]:
    """Return for each line whether some cell that is not empty is enclosed by the mark."""
    m, d = re.escape(mark), re.escape(delimiter)
    enclosed = re.compile(rf"(?:^|{d}){m}(?:[^{m}]|{m}{m})+{m}(?:{d}|$)")
    return [mark != delimiter and enclosed.search(line) is not None for line in lines]


def _find_most_consistent_delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits most of the first lines into as many cells as the first line.

    Of equals, return the one that gives the most cells.
    """
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        counts = count_cells(lines, delimiter)
        if counts and counts[0] > 1:
            score = (sum(count == counts[0] for count in counts) / len(counts), counts[0])
            if score > best_score:
                best, best_score = delimiter, score
    return best


def count_cells(lines: list[str], delimiter: str) -> list[int]:
    """Return the number of cells of every record in the lines, with the qualifier that they show."""
    records = _read_records(lines, delimiter, _find_qualifier(delimiter, lines))
    return [len(record.cells or []) for record in records]


def _read_records(lines: list[str], delimiter: str, qualifier: str | None) -> list[Record]:
    """Return every record in the lines."""
    text = enc.Lines([line + "\n" for line in lines], [], bare_cr=any("\r" in line for line in lines))
    cells = lines[0].count(delimiter) + 1 if lines else 1
    return list(read_records(text, Grammar(delimiter, qualifier, cells), at_end=True, cursor=LineCursor()))
