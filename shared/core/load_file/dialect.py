"""What a file's beginning says about how it is written; the file's extension says nothing and is not asked.

Encoding: a byte order mark, else the form that the thorns have (C3 BE is UTF-8, FE is cp1252), else it is open until
the whole file was seen. Delimiter and qualifier: what stands between and around the cells of the first lines. Whatever
the uploader gave is taken as given.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from core.errors import FileRefusedError
from core.field_mapping import column_names, id_field, map_columns
from core.import_options import NO_QUALIFIER, ImportOptions
from core.load_file import encoding as enc
from core.load_file.grammar import Grammar, Reading, Record
from core.load_file.records import read_records
from core.load_file.signatures import refuse_foreign_formats
from core.reasons import FileFailure

DC4, THORN, REGISTERED = "\x14", "\u00fe", "\u00ae"
DELIMITERS = (DC4, "\t", "|", ";", ",")
SAMPLE_BYTES = 256 * 1024
SAMPLE_LINES = 50
MAX_COLUMNS = 10_000
MAX_NAME_CHARACTERS, MAX_HEADER_CHARACTERS = 1_000, 1_000_000


@dataclass(frozen=True)
class Dialect:
    """How the file is written. `encoding` is None while it is open; `view` is what to split it by meanwhile."""

    encoding: str | None
    view: str
    mark_bytes: int
    delimiter: str
    qualifier: str | None
    newline: str | None


@dataclass(frozen=True)
class Opening:
    """The dialect, and what the first record of the file settles."""

    dialect: Dialect
    grammar: Grammar
    names: tuple[str, ...]
    fields: tuple[str | None, ...]
    body_start: int
    body_line: int

    @property
    def id_column(self) -> int:
        """The column of the id."""
        return self.fields.index(id_field(self.fields))


def read_opening(head: bytes, options: ImportOptions, *, whole: bool) -> Opening:
    """Settle what the beginning of a file can settle; `whole`: the head is the whole file.

    Raises FileRefusedError, with what to do, for a file that is empty, binary, of another format, or without an id.
    """
    refuse_foreign_formats(head, options.encoding)
    dialect = _dialect(head, options)
    body = _whole_lines(head[dialect.mark_bytes :], dialect.view, whole)
    # Names need their real encoding; the structure is the same in any view.
    lines = enc.lines(body, dialect.encoding or _likely_encoding(body))
    return _opening(_first_record(lines, dialect, whole), lines, dialect, options)


def _opening(first: Record, lines: enc.Lines, dialect: Dialect, options: ImportOptions) -> Opening:
    cells = [enc.readable(cell) for cell in first.cells or []]
    _refuse_too_many_columns(cells)
    if options.header:
        _refuse_unlikely_names(cells, dialect.delimiter)
    spare = options.header and len(cells) > 1 and not cells[-1].strip()
    names = column_names(cells[:-1] if spare else cells) if options.header else column_names([""] * len(cells))
    start = lines.texts[first.first]
    grammar = Grammar(
        dialect.delimiter,
        dialect.qualifier,
        len(names),
        spare_cell=spare,
        quoted_start=dialect.qualifier is not None and start.startswith(dialect.qualifier),
    )
    body_line = first.first + first.lines if options.header else 0
    body_start = dialect.mark_bytes + sum(lines.sizes[:body_line])
    return Opening(dialect, grammar, names, map_columns(names, options.columns), body_start, body_line + 1)


def _refuse_too_many_columns(cells: list[str]) -> None:
    if len(cells) > MAX_COLUMNS:
        message = f"the first line has {len(cells)} cells; the most columns is {MAX_COLUMNS}"
        raise FileRefusedError(FileFailure.TOO_MANY_COLUMNS, message)


def _refuse_unlikely_names(cells: list[str], delimiter: str) -> None:
    longest = max(map(len, cells))
    if longest > MAX_NAME_CHARACTERS or sum(map(len, cells)) > MAX_HEADER_CHARACTERS:
        message = f"a cell of the first line has {longest} characters, which is no column's name"
        raise FileRefusedError(FileFailure.NOT_DELIMITED, f"{message}; check the delimiter, or add a header line")
    if any("\n" in cell and delimiter in cell for cell in cells):
        message = "a cell of the first line runs over several lines and delimiters: its qualifier is not closed"
        raise FileRefusedError(FileFailure.NOT_DELIMITED, f"{message}; mend it and load again")


def _whole_lines(raw: bytes, view: str, whole: bool) -> bytes:
    end = len(raw) if whole else enc.end_of_last_line(raw, view)
    if not end and not whole:
        raise FileRefusedError(FileFailure.NOT_DELIMITED, "the first line does not end within the first 16 MB")
    return raw[:end]


def _first_record(lines: enc.Lines, dialect: Dialect, whole: bool) -> Record:
    """Whatever number of cells it has: the first record is what says how many there are."""
    if not any(text.strip() for text in lines.texts):
        raise FileRefusedError(FileFailure.EMPTY_FILE, "the file is empty")
    grammar = Grammar(dialect.delimiter, dialect.qualifier, cells=0)
    first = next(read_records(lines, grammar, at_end=whole, reading=Reading()), None)
    if first is not None and first.cells is not None:
        return first
    raise FileRefusedError(
        FileFailure.NOT_DELIMITED, "the quoting of the first line is damaged; mend it and load again"
    )


def _dialect(head: bytes, options: ImportOptions) -> Dialect:
    marked, mark_bytes = enc.byte_order_mark(head)
    encoding = options.encoding or marked
    if encoding != marked and marked != enc.UTF_8:
        mark_bytes = 0
    sample = head[mark_bytes : mark_bytes + SAMPLE_BYTES]
    if encoding is None:
        encoding = _encoding_of_thorns(sample)
    _refuse_other_line_ends(sample, encoding)
    lines = _sample_lines(sample, encoding or enc.BYTEWISE)
    delimiter, qualifier = _delimiter_and_qualifier(lines, options)
    if encoding is None and not f"{delimiter}{qualifier or ''}".isascii():
        encoding = _likely_encoding(sample[: enc.end_of_last_line(sample, enc.UTF_8) or len(sample)])
    if delimiter == qualifier:
        if options.qualifier is not None:
            raise FileRefusedError(FileFailure.BAD_OPTIONS, "the delimiter and the qualifier are the same character")
        qualifier = None
    newline = options.newline if options.newline is not None else (REGISTERED if qualifier == THORN else NO_QUALIFIER)
    if newline and newline in (delimiter, qualifier):
        raise FileRefusedError(FileFailure.BAD_OPTIONS, "the mark for a line end is the delimiter or the qualifier")
    return Dialect(encoding, encoding or enc.BYTEWISE, mark_bytes, delimiter, qualifier, newline or None)


def _encoding_of_thorns(sample: bytes) -> str | None:
    lines = [line.rstrip(b"\r") for line in sample.split(b"\n", SAMPLE_LINES)[:SAMPLE_LINES]]
    if any(_stands_as_qualifier(line, b"\xc3\xbe") for line in lines):
        return enc.UTF_8
    if any(_stands_as_qualifier(line, b"\xfe") for line in lines):
        return enc.CP1252
    return None


def _stands_as_qualifier(line: bytes, mark: bytes) -> bool:
    return line.startswith(mark) or (b"\x14" + mark) in line or (mark + b"\x14") in line or (mark + b";" + mark) in line


def _likely_encoding(raw: bytes) -> str:
    """That of whole lines."""
    evidence = enc.Utf8Evidence()
    evidence.add(raw)
    return evidence.verdict()


def _refuse_other_line_ends(sample: bytes, encoding: str | None) -> None:
    text = enc.decode(sample, encoding or enc.BYTEWISE)
    if "\n" not in text and text.rstrip("\r").count("\r") > 0:
        raise FileRefusedError(
            FileFailure.UNSUPPORTED_LINE_ENDS, "lines end in CR alone; save the file with CRLF or LF line ends"
        )


def _sample_lines(sample: bytes, view: str) -> list[str]:
    # A sample is cut anywhere; a whole file is not.
    end = len(sample) if len(sample) < SAMPLE_BYTES else enc.end_of_last_line(sample, view) or len(sample)
    texts = enc.lines(sample[:end], view).texts[:SAMPLE_LINES]
    return [text.rstrip("\r\n") for text in texts if text.strip()]


def _delimiter_and_qualifier(lines: list[str], options: ImportOptions) -> tuple[str, str | None]:
    thorns = any(line.startswith(THORN) or DC4 + THORN in line for line in lines)
    if options.delimiter is not None:
        delimiter = options.delimiter
    elif thorns or any(DC4 in line for line in lines[:1]):
        delimiter = _between_thorns(lines)
    else:
        delimiter = _most_consistent(lines)
    if options.qualifier is not None:
        return delimiter, None if options.qualifier == NO_QUALIFIER else options.qualifier
    return delimiter, THORN if thorns or delimiter == DC4 else _qualifier_beside(delimiter, lines)


def _between_thorns(lines: list[str]) -> str:
    if any(DC4 in line for line in lines):
        return DC4
    # Only what could be given as an option too: the rejected rows come back with it.
    between = Counter(re.findall(f"{THORN}([^\\w{THORN}\r\n\0 \ud800-\udfff]){THORN}", "\n".join(lines)))
    return between.most_common(1)[0][0] if between else DC4


def _qualifier_beside(delimiter: str, lines: list[str]) -> str | None:
    d = re.escape(delimiter)
    for mark in ("^", '"'):
        m = re.escape(mark)
        if mark != delimiter and any(re.search(rf"(?:^|{d}){m}(?:[^{m}]|{m}{m})*{m}(?:{d}|$)", line) for line in lines):
            return mark
    # Where a file of pipes quotes nothing at its beginning, a quotation mark further down is text.
    return None if delimiter == "|" else '"'


def _most_consistent(lines: list[str]) -> str:
    """The delimiter that splits the most of the first lines into as many cells as the first; then the most cells."""
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        counts = _cell_counts(lines, delimiter)
        if counts and counts[0] > 1:
            score = (sum(count == counts[0] for count in counts) / len(counts), counts[0])
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _cell_counts(lines: list[str], delimiter: str) -> list[int]:
    qualifier = _qualifier_beside(delimiter, lines)
    text = enc.Lines([line + "\n" for line in lines], [], bare_cr=any("\r" in line for line in lines))
    cells = lines[0].count(delimiter) + 1 if lines else 1
    records = read_records(text, Grammar(delimiter, qualifier, cells), at_end=True, reading=Reading())
    return [len(record.cells or []) for record in records]
