"""Show how an import would read a file, from the file's first bytes: what is detected and why, rows, columns.

Guaranteed: everything is decided by the code that decides it for the import (`read_opening`, `Splitter`, `parse_row`
and the `convert` of the caller), from the same first bytes. What the rest of the file can change is named: the encoding
where no byte order mark, thorn or option shows it, and the order of day and month.
Not guaranteed: that an import of the file succeeds; only its first bytes are read, and its ids are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from core.imports.columns.facts import ColumnCells, find_facts, note_dates
from core.imports.columns.report import ColumnKind, describe_columns
from core.imports.columns.warnings import ColumnWarning, list_warnings
from core.imports.findings import Detection, detect
from core.load_file.chunk_reader import read_chunk
from core.load_file.dialect import read_opening
from core.load_file.encoding import replace_surrogates
from core.load_file.field_mapping import MappingReason
from core.load_file.file_signatures import build_unread_rest
from core.load_file.layout import Layout
from core.load_file.options import ImportOptions
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import Row, parse_row
from core.load_file.split_state import Chunk
from core.load_file.splitter import Splitter

SHOWN_ROWS, COUNTED_ROWS, SAMPLES = 20, 10_000, 3
# Of a file with thousands of columns, whose rows take as long as a thousand others, fewer rows are enough.
SHOWN_CELLS, COUNTED_CELLS, MIN_ROWS = 50_000, 250_000, 3
# A response of Lambda has at most 6 MB.
LISTED_COLUMNS, CELL_CHARACTERS = 300, 100
_SLICE_BYTES = 250_000
_NAME_FIELDS = ("custodians", "tags")


@dataclass(frozen=True)
class ConvertedRow:
    """The values of a row as they would be stored, by field; the properties by column.

    `codes` are (column, code) of its rejections, else of its warnings; a rejected row has no values.
    """

    values: Mapping[str, str | None] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    properties: Mapping[str, str | None] = field(default_factory=dict)
    codes: Sequence[tuple[str | None, str]] = ()

    def find_code(self, column: str) -> str | None:
        """Return the first code of the column or of the whole row."""
        code = self._first_codes.get(column)
        return self._first_codes.get(None, code) if code is None else code

    @cached_property
    def _first_codes(self) -> Mapping[str | None, str]:
        return dict(reversed(self.codes))


Convert = Callable[[Row], ConvertedRow]


@dataclass(frozen=True)
class Sample:
    """A cell as it is read, and its value as it would be stored: several for custodians and tags.

    `value` is None if the row is rejected or the cell gives no value, and `code` then says why, if there is a reason.
    """

    text: str
    value: str | list[str] | None
    code: str | None


@dataclass(frozen=True)
class ColumnPreview:
    """A column: its field (None: a property), why, samples, and its blank and distinct values in the counted rows."""

    number: int
    name: str
    field: str | None
    why: MappingReason
    looks_like: ColumnKind | None
    samples: list[Sample]
    blank: int
    distinct: int


@dataclass(frozen=True)
class RowPreview:
    """A row as it is read, at its line; `cells` is None if its quoting is damaged. `codes` are its findings."""

    line: int
    cells: list[str] | None
    codes: list[str]


@dataclass(frozen=True)
class MissingImage:
    """A path of an image load file without a file in the volume, and its line."""

    line: int
    path: str


@dataclass(frozen=True)
class ImageLines:
    """What an image load file is and why, and what is in the bytes that were read.

    `documents` is None if commands decide which pages begin one. `missing` are the first of `paths_compared` paths that
    the volume has no file for; both are None without a volume.
    """

    kind: str
    why: str
    columns: list[str]
    documents: int | None
    pages: int
    paths_compared: int | None = None
    missing: list[MissingImage] | None = None


@dataclass(frozen=True)
class Preview:
    """How an import would read a file of `size` bytes; texts are cut at CELL_CHARACTERS.

    `provisional`: the rest of the file was not read, and can change the findings `may_change`. `columns` and cells are
    the first LISTED_COLUMNS of `column_count`; blank and distinct values are counted in `rows_counted` rows.
    `header_fingerprint` is None without a header. `warnings` are those of columns, of the rows that were counted.
    `images` is None for a file of rows.
    """

    provisional: bool
    bytes_read: int
    size: int
    may_change: list[str]
    detection: Detection
    rows_read: int
    rows_counted: int
    rows: list[RowPreview]
    column_count: int
    columns: list[ColumnPreview]
    header_fingerprint: str | None
    warnings: list[ColumnWarning]
    images: ImageLines | None = None


def build_preview(head: bytes, size: int, options: ImportOptions, make_convert: Callable[[Layout], Convert]) -> Preview:
    """Return the preview of a file of `size` bytes that begins with `head`, which `read_head` returned.

    `make_convert` returns what converts the rows of a layout as the import does. Raises FileRefusedError with the code
    that the import would fail with, as far as these bytes show it.
    """
    whole = len(head) == size
    opening = read_opening(head, options, whole=whole)
    splitter = Splitter(opening, COUNTED_ROWS)
    chunks = _split(splitter, head, whole=whole)
    layout = splitter.build_layout(options, whole=whole)
    if whole and size > layout.body_start and not splitter.rows_seen:
        raise build_unread_rest(size - layout.body_start)
    listed, counted = (
        min(rows, max(MIN_ROWS, cells // len(layout.names)))
        for rows, cells in ((SHOWN_ROWS, SHOWN_CELLS), (COUNTED_ROWS, COUNTED_CELLS))
    )
    table = _Table(layout, list(islice(_read_records(head, chunks, layout), counted)), make_convert(layout))
    detection = detect(opening, options, layout, splitter, whole=whole)
    return Preview(
        provisional=not whole,
        bytes_read=len(head),
        size=size,
        may_change=detection.list_changeable(),
        detection=detection,
        rows_read=splitter.rows_seen,
        rows_counted=len(table.sound),
        rows=[table.show_row(record) for record in table.records[:listed]],
        column_count=len(layout.names),
        columns=table.list_columns(),
        header_fingerprint=layout.fingerprint_header(),
        warnings=table.list_warnings(),
    )


def _split(splitter: Splitter, head: bytes, *, whole: bool) -> list[Chunk]:
    """Return the chunks of the complete records; the last record of a prefix may be cut and is left out."""
    chunks: list[Chunk] = []
    for start in range(0, len(head), _SLICE_BYTES):
        chunks += splitter.feed(head[start : start + _SLICE_BYTES])
    return [*chunks, *(splitter.finish() if whole else splitter.list_open_chunk())]


def _read_records(head: bytes, chunks: Iterable[Chunk], layout: Layout) -> Iterator[SourceRecord]:
    for chunk in chunks:
        yield from read_chunk(head[chunk.byte_start : chunk.byte_end], layout, chunk.first_line, chunk.byte_start)


class _Table:
    """The records of a preview; `sound` are the cells of those with the expected number of them."""

    def __init__(self, layout: Layout, records: list[SourceRecord], convert: Convert) -> None:
        self.records = records
        self._layout, self._convert = layout, convert
        fits = layout.grammar.has_expected_cells
        self._with_cells = [each for each in records if each.cells is not None and fits(each.cells)]
        self.sound = [each.cells or [] for each in self._with_cells]
        self._converted: dict[int, ConvertedRow] = {}

    def show_row(self, record: SourceRecord) -> RowPreview:
        """Return the row with its findings."""
        cells = None if record.cells is None else [shorten(cell) for cell in record.cells[:LISTED_COLUMNS]]
        return RowPreview(record.line_no, cells, [code for _, code in self._convert_record(record).codes])

    def list_columns(self) -> list[ColumnPreview]:
        """Return the first columns with their samples and counts."""
        described = describe_columns(self._layout, LISTED_COLUMNS)
        by_column = zip(*(cells[: len(described)] for cells in self.sound), strict=True)
        found = list(by_column) or [()] * len(described)
        return [
            ColumnPreview(
                index + 1, shorten(each.name), each.field, each.why, each.looks_like, *self._count(index, found[index])
            )
            for index, each in enumerate(described)
        ]

    def list_warnings(self) -> list[ColumnWarning]:
        """Return what an import of the counted rows alone would warn of its columns."""
        columns = list(zip(*(cells[: len(self._layout.names)] for cells in self.sound), strict=True))
        if not columns:
            return []
        lines = [record.line_no for record in self._with_cells]
        rows = ColumnCells(lines, columns, note_dates(self._layout, columns))
        return [
            replace(each, column=shorten(each.column), message=replace_surrogates(each.message))
            for each in list_warnings(self._layout, find_facts(self._layout, rows))
        ]

    def _count(self, index: int, cells: Sequence[str]) -> tuple[list[Sample], int, int]:
        counts = Counter(cells)
        blank = [cell for cell in counts if not cell.strip()]
        distinct = len(counts) - len(blank)
        samples = list(self._take_samples(index, cells, min(SAMPLES, distinct)))
        return samples, sum(counts[cell] for cell in blank), distinct

    def _take_samples(self, index: int, cells: Sequence[str], count: int) -> Iterator[Sample]:
        """Yield the first distinct values that are not blank, of which there are at least `count`."""
        samples: set[str] = set()
        for number, cell in enumerate(cells):
            if len(samples) == count:
                return
            if cell.strip() and cell not in samples:
                samples.add(cell)
                yield self._build_sample(index, cell, self._convert_record(self._with_cells[number]))

    def _build_sample(self, index: int, cell: str, row: ConvertedRow) -> Sample:
        name, field_name = self._layout.names[index], self._layout.fields[index]
        code = row.find_code(name)
        value: str | list[str] | None = row.properties.get(name)
        if field_name in _NAME_FIELDS:
            value = [shorten(each) for each in row.names.get(name, ())] or None
        elif field_name is not None and field_name in row.values:
            value = row.values[field_name]
        return Sample(shorten(cell), shorten(value) if isinstance(value, str) else value, code)

    def _convert_record(self, record: SourceRecord) -> ConvertedRow:
        if record.line_no not in self._converted:
            self._converted[record.line_no] = self._convert(parse_row(record, self._layout))
        return self._converted[record.line_no]


def shorten(text: str) -> str:
    """Return the text for a preview: cut at CELL_CHARACTERS, with U+FFFD for bytes that cannot be decoded."""
    whole = replace_surrogates(text)
    return whole if len(whole) <= CELL_CHARACTERS else f"{whole[: CELL_CHARACTERS - 1]}…"
