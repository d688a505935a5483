"""Detect how a file is written from its beginning; the file extension is ignored.

Encoding: a byte order mark, else the form of the thorns (C3 BE is UTF-8, FE is cp1252), else undecided until the whole
file has been read. Delimiter and qualifier: the characters between and around the cells of the first lines. Options of
the uploader override detection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NoReturn

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file import encoding as enc
from core.load_file.delimiters import (
    THORN,
    Sign,
    Signs,
    detect_thorn_encoding,
    explain_delimiter_and_qualifier,
    find_separator,
)
from core.load_file.field_mapping import (
    ColumnMapping,
    MappingReason,
    decide_by_content,
    explain_columns,
    get_id_field,
    leave_out_paths,
)
from core.load_file.file_signatures import (
    CLOSE_THE_QUALIFIER,
    EMPTY_FILE,
    refuse_foreign_formats,
    refuse_implausible_names,
    refuse_too_many_columns,
)
from core.load_file.given_columns import list_names, name_columns
from core.load_file.grammar import MAX_RECORD_BYTES, Grammar, LineCursor, Record
from core.load_file.line_ends import SAMPLE_BYTES, detect_cr_ends, take_sample_lines
from core.load_file.options import NO_CHARACTER, ImportOptions
from core.load_file.record_reader import read_records
from core.load_mode import check_overlay_key

REGISTERED = "\u00ae"
HEAD_BYTES = 8_000_000
# Of a header that comes after titles.
MAX_TITLE_LINES = 30


@dataclass(frozen=True)
class Dialect:
    """How the file is written.

    `encoding` is None while it is undecided; `view` is the encoding used to find records until then. `cr_ends`: lines
    end at CR too. `newline` is the character that represents a line break inside a cell (None: no character does).
    `signs` says what shows all this, and does not count when dialects are compared.
    """

    encoding: str | None
    view: str
    mark_bytes: int
    delimiter: str
    qualifier: str | None
    newline: str | None
    cr_ends: bool = False
    signs: Signs | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Opening:
    """The dialect of a file and the columns of its first record.

    `body_start` is the byte and `body_line` the physical line where the records begin. `header` is the cells of the
    header as they are read in the dialect's view; None without a header. `reasons` says why each column has its field.
    `earlier_fields` are those that earlier versions gave the columns, if they differ.
    """

    dialect: Dialect
    grammar: Grammar
    names: tuple[str, ...]
    fields: tuple[str | None, ...]
    body_start: int
    body_line: int
    header: list[str] | None = None
    reasons: tuple[MappingReason, ...] = ()
    earlier_fields: tuple[str | None, ...] = ()

    @property
    def id_column(self) -> int:
        """The index of the id column."""
        return self.fields.index(get_id_field(self.fields))


def read_head(blocks: Iterator[bytes], size: int) -> bytes:
    """Return the first bytes of a file of this size, from which `read_opening` decides.

    The blocks but the last have HEAD_BYTES bytes; another one is read only while no line has ended, up to 16 MB.
    """
    head = next(blocks, b"")
    while len(head) < min(size, MAX_RECORD_BYTES) and b"\n" not in head:
        head += next(blocks, b"")
    return head


def read_opening(head: bytes, options: ImportOptions, *, whole: bool) -> Opening:
    """Return the dialect and the columns of a file from its first bytes; `whole`: `head` is the whole file.

    Raises FileRefusedError for a file that is empty or binary, has an unsupported format, encoding or line end, or has
    no id column; for a first record that is not a list of column names; and for options that contradict each other or
    the file.
    """
    refuse_foreign_formats(head, options.encoding)
    dialect = _detect_dialect(head, options, whole)
    body = _take_whole_lines(head[dialect.mark_bytes :], dialect, whole)
    # Column names need the real encoding; the structure is the same in any view.
    encoding = dialect.encoding or _guess_encoding(body)
    lines = enc.split_lines(body, encoding, dialect.cr_ends)
    before = _count_lines_before_records(lines, options)
    first = _read_first_record(lines.slice_from(before), dialect, options.cells, whole)
    try:
        opening = _build_opening(first._replace(first=before + first.first), lines, before, dialect, options)
    except FileRefusedError as refused:
        if refused.code is FileFailure.NO_ID_COLUMN and options.header and options.header_line is None:
            _refuse_titles(head, options, lines.texts, before + first.first)
        raise
    return (
        replace(opening, header=_view_cells(first.cells or [], encoding, dialect.view)) if options.header else opening
    )


def _refuse_titles(head: bytes, options: ImportOptions, texts: list[str], first: int) -> None:
    """Raise FileRefusedError (NO_ID_COLUMN) that names the line which looks like the header, if one does."""
    whole = len(head) <= SAMPLE_BYTES
    after = [number for number in range(first + 1, min(len(texts), first + MAX_TITLE_LINES)) if texts[number].strip()]
    for line in (number + 1 for number in after):
        with suppress(FileRefusedError):
            opening = read_opening(head[:SAMPLE_BYTES], replace(options, header_line=line), whole=whole)
            known = sum(why in (MappingReason.SYNONYM, MappingReason.PATTERN) for why in opening.reasons)
            if known < min(2, len(opening.names)):
                continue
            message = (
                f"Line {first + 1} is not a header: none of its cells is the name of an id. Line {line} looks like one"
            )
            advice = f"Set option 'header_line' to {line}, or remove the lines before it"
            refused = FileRefusedError(FileFailure.NO_ID_COLUMN, f"{message}: {list_names(opening.names)}. {advice}.")
            break
    else:
        return
    raise refused


def _view_cells(cells: list[str], encoding: str, view: str) -> list[str]:
    """Return the cells as they are read in the view, in which repeated headers are recognised."""
    if encoding == view:
        return cells
    return [cell.encode(encoding, "surrogateescape").decode(view) for cell in cells]


def _count_lines_before_records(lines: enc.Lines, options: ImportOptions) -> int:
    """Return the number of lines before the header, up to the one that names the delimiter to Excel; 0 if none are."""
    if options.header_line is not None:
        if options.header_line > len(lines.texts):
            message = f"Option 'header_line' is {options.header_line}, but the file has fewer lines"
            raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{message}. Set it to the line of the column names.")
        return options.header_line - 1
    number = next((number for number, text in enumerate(lines.texts) if text.strip()), 0)
    line = "".join(lines.texts[number : number + 1])
    return number + 1 if find_separator(line[enc.skip_marks(line, lines.mark) :].rstrip("\r\n")) else 0


def _build_opening(first: Record, lines: enc.Lines, before: int, dialect: Dialect, options: ImportOptions) -> Opening:
    cells = [enc.replace_surrogates(cell) for cell in first.cells or []]
    refuse_too_many_columns(cells)
    if options.header:
        refuse_implausible_names(cells, dialect.delimiter)
    spare = options.header and len(cells) > 1 and not cells[-1].strip()
    names = name_columns(cells[:-1] if spare else cells) if options.header else name_columns([""] * len(cells))
    start = lines.texts[first.first]
    grammar = Grammar(
        dialect.delimiter,
        dialect.qualifier,
        len(names),
        spare_cell=spare,
        quoted_start=dialect.qualifier is not None
        and start.startswith(dialect.qualifier, enc.skip_marks(start, lines.mark)),
        cr_ends=dialect.cr_ends,
        skips_blank=True,
    )
    body_line = first.first + first.lines if options.header else before
    body_start = dialect.mark_bytes + sum(lines.sizes[:body_line])
    columns, earlier = _map_columns(names, options, lines.slice_from(body_line), grammar)
    fields, reasons = tuple(column.field for column in columns), tuple(column.why for column in columns)
    check_overlay_key(options.load_mode, fields, names)
    opening = Opening(dialect, grammar, names, fields, body_start, body_line + 1, reasons=reasons)
    earlier_fields = tuple(column.field for column in earlier)
    return opening if earlier_fields == fields else replace(opening, earlier_fields=earlier_fields)


def _map_columns(
    names: tuple[str, ...], options: ImportOptions, lines: enc.Lines, grammar: Grammar
) -> tuple[tuple[ColumnMapping, ...], tuple[ColumnMapping, ...]]:
    """Return the fields of the columns, and those of earlier versions; of the lines, the last may be cut."""

    def read() -> Iterator[Sequence[str] | None]:
        return (record.cells for record in read_records(lines, grammar, at_end=True, cursor=LineCursor()))

    columns = leave_out_paths(explain_columns(names, options.columns, options.profile), read())
    earlier = explain_columns(names, options.columns, options.profile, with_later=False)
    return decide_by_content(columns, read()), leave_out_paths(earlier, read())


def _take_whole_lines(raw: bytes, dialect: Dialect, whole: bool) -> bytes:
    end = len(raw) if whole else enc.find_last_line_end(raw, dialect.view, dialect.cr_ends)
    if not end and not whole:
        raise FileRefusedError(
            FileFailure.NOT_DELIMITED,
            "The first line does not end within the first 16 MB. Check that the lines end in CRLF or LF.",
        )
    return raw[:end]


def _read_first_record(lines: enc.Lines, dialect: Dialect, cells: int | None, whole: bool) -> Record:
    """Return the first record, with any number of cells: it defines how many cells the other records have.

    If the uploader states their number, the record is not read, because it may be a damaged one.
    """
    start = next((number for number, text in enumerate(lines.texts) if text.strip()), None)
    if start is None:
        raise FileRefusedError(FileFailure.EMPTY_FILE, EMPTY_FILE)
    if cells is not None:
        return Record(start, 1, [""] * cells)
    grammar = Grammar(dialect.delimiter, dialect.qualifier, cells=0, cr_ends=dialect.cr_ends)
    first = next(read_records(lines, grammar, at_end=whole, cursor=LineCursor()), None)
    if first is not None and first.cells is not None:
        return first
    message = "A qualifier in the first line is not closed, or is inside a cell and not doubled"
    raise FileRefusedError(FileFailure.NOT_DELIMITED, f"{message}. {CLOSE_THE_QUALIFIER}")


def _detect_dialect(head: bytes, options: ImportOptions, whole: bool) -> Dialect:
    marked, mark_bytes = enc.detect_byte_order_mark(head)
    encoding = options.encoding or marked
    sign = Sign.GIVEN if options.encoding else Sign.BYTE_ORDER_MARK if marked else Sign.CHARACTERS
    if encoding != marked and marked != enc.UTF_8:
        mark_bytes = 0
    sample = head[mark_bytes : mark_bytes + SAMPLE_BYTES]
    if options.encoding == enc.CP1252 and detect_thorn_encoding(sample) == enc.UTF_8:
        refuse_utf8()
    if encoding is None:
        encoding = detect_thorn_encoding(sample)
        sign = Sign.THORNS if encoding else Sign.CHARACTERS
    view = encoding or enc.BYTEWISE
    cr_ends = detect_cr_ends(sample, view, options)
    lines = take_sample_lines(sample, view, cr_ends, options)
    delimiter, qualifier, *signs = explain_delimiter_and_qualifier(lines, options)
    if encoding is None and not f"{delimiter}{qualifier or ''}".isascii():
        encoding = _guess_encoding(head if whole else head[: enc.find_last_line_end(head, enc.UTF_8)])
    if delimiter == qualifier:
        _refuse_equal_qualifier(delimiter, options)
        qualifier = None
    newline = _choose_newline_mark(delimiter, qualifier, options)
    view, found = encoding or enc.BYTEWISE, Signs(sign, *signs)
    return Dialect(encoding, view, mark_bytes, delimiter, qualifier, newline, cr_ends, found)


def refuse_utf8() -> NoReturn:
    """Raise FileRefusedError (BAD_OPTIONS) for a UTF-8 file whose encoding is given as cp1252."""
    message = "Option 'encoding' is cp1252, but the file is UTF-8: all of its characters beyond ASCII are valid UTF-8"
    raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{message}. Remove the option, or set it to utf-8.")


def _refuse_equal_qualifier(delimiter: str, options: ImportOptions) -> None:
    """Raise FileRefusedError if the options name a qualifier that is the delimiter; a detected one is dropped."""
    if options.qualifier is not None:
        message = f"The delimiter and the qualifier are the same character, {delimiter!r}"
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{message}. Change option 'delimiter' or 'qualifier'.")


def _choose_newline_mark(delimiter: str, qualifier: str | None, options: ImportOptions) -> str | None:
    """Return the character that stands for line breaks in cells: by default the registered sign beside thorns."""
    newline = options.newline
    if newline is None:
        newline = REGISTERED if qualifier == THORN and delimiter != REGISTERED else NO_CHARACTER
    if newline and newline in (delimiter, qualifier):
        message = f"The character for line breaks in cells, {newline!r}, is the delimiter or the qualifier"
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{message}. Change option 'newline', or set it to 'none'.")
    return newline or None


def _guess_encoding(raw: bytes) -> str:
    """Return the more likely encoding of complete lines, UTF-8 or cp1252."""
    evidence = enc.Utf8Evidence()
    evidence.add(raw)
    return evidence.choose_encoding()
