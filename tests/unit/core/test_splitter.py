"""Whatever the chunk size and however the bytes arrive, the chunks hold the file's records and nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.errors import FileRefusedError
from core.load_file import splitter
from core.load_file.layout import Layout
from core.load_file.rows import parse_row
from core.load_file.splitter import MAX_CHUNK_BYTES
from samples.columns import Role
from samples.dialects import DIALECTS, ENCODINGS, Dialect, Quoting
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec
from tests.unit.core.file_reading import Reading, clear_files, every, read_file

UNREADABLE = {"MALFORMED_QUOTING", "UNDECODABLE_BYTES"}
CONTROL = b"Control Number,Title\n"


@st.composite
def readings(draw: st.DrawFn) -> tuple[Generated, Reading]:
    """A sample file, split into chunks of any number of rows while it arrives in any pieces."""
    generated = draw(clear_files())
    data = generated.data
    step = draw(st.sampled_from([1, 2, 3, 64, 1000, len(data)]))
    cuts = draw(st.sets(st.integers(0, len(data)), max_size=8)) | set(every(step, data))
    rows = draw(st.integers(1, 50))
    return generated, read_file(data, generated.options, chunk_rows=rows, cuts=cuts)


def assert_tiled(reading: Reading) -> None:
    """Chunks tile the body but for blank lines at its end, and have the digests and counts of their bytes."""
    chunks, layout = reading.chunks, reading.layout
    assert [chunk.chunk_no for chunk in chunks] == list(range(1, len(chunks) + 1))
    assert (chunks[0].byte_start, chunks[0].first_line) == (layout.body_start, layout.body_line)
    for one, other in pairwise(chunks):
        assert (other.byte_start, other.first_line) == (one.byte_end, one.last_line + 1)
    assert reading.data[chunks[-1].byte_end :].strip(b"\r\n\0") == b""
    assert reading.splitter.sha256 == hashlib.sha256(reading.data).digest()
    for chunk, raw in zip(chunks, reading.chunk_bytes, strict=True):
        assert chunk.sha256 == hashlib.sha256(raw).digest()
        assert 1 <= chunk.row_count <= reading.splitter.chunk_rows
        assert chunk.byte_end - chunk.byte_start <= MAX_CHUNK_BYTES
    assert sum(chunk.row_count for chunk in chunks) == reading.splitter.rows_seen


@given(readings())
def test_chunks_tile_the_file_and_together_they_are_the_truth(both: tuple[Generated, Reading]) -> None:
    generated, reading = both
    assert_tiled(reading)
    records, truths = reading.records, generated.truth.records
    assert records == reading.records_at_once()
    places = [(record.line_no, record.line_count, record.byte_start, record.byte_len) for record in records]
    assert places == [(true.first_line, true.line_count, true.byte_start, true.byte_len) for true in truths]
    assert reading.splitter.rows_seen == len(truths)
    spare = [""] if generated.spec.trailing_delimiter else []
    for record, true in zip(records, truths, strict=True):
        assert (record.cells is None) == ("MALFORMED_QUOTING" in true.codes)
        if record.cells is not None and not true.codes & UNREADABLE:
            assert record.cells == [*true.cells, *spare]


@given(readings())
def test_layout_ids_and_dates_are_those_of_the_truth(both: tuple[Generated, Reading]) -> None:
    generated, reading = both
    truth, layout = generated.truth, reading.layout
    # Where nothing is quoted, a qualifier that never occurs is as good as none.
    qualifier = layout.grammar.qualifier or "" if truth.qualifier else ""
    found = (layout.encoding, layout.grammar.delimiter, qualifier, layout.newline or "")
    assert found == (truth.encoding, truth.delimiter, truth.qualifier, truth.newline_mark)
    assert Layout.from_json(layout.to_json()) == layout
    if truth.has_header:
        assert layout.names == truth.headers
    dated = any(column.role is Role.DOCUMENT_DATE for column in truth.columns)
    for record, true in zip(reading.records, truth.records, strict=True):
        if true.imported:
            row = parse_row(record, layout)
            assert row.control_number == true.control_number
            assert row.document_date == (true.document_date if dated else None)
    unread = UNREADABLE | {"WRONG_CELL_COUNT"}
    claims = [(each.control_number, each.first_line) for each in truth.records if not each.codes & unread]
    # Until the encoding is known, ids are seen byte by byte.
    view = reading.opening.dialect.view
    ids = {(key.encode(view, "surrogateescape"), line) for key, line in reading.splitter.ids}
    assert {(key.encode(layout.encoding), line) for key, line in claims if key} <= ids


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_dialect_in_every_encoding_is_detected_and_read(encoding: str) -> None:
    for dialect in DIALECTS:
        assert_detected_and_read(dialect, encoding)


def assert_detected_and_read(dialect: Dialect, encoding: str) -> None:
    faults = [FaultKind.MISSING_ID, FaultKind.DUPLICATE_ID, FaultKind.BAD_BYTE, FaultKind.FEWER_CELLS]
    spec = Spec(rows=40, dialect=dialect, encoding=encoding, quoting=Quoting.MINIMAL)
    if dialect.qualifier:
        spec, faults = replace(spec, quoting=Quoting.ALL), [*faults, FaultKind.UNCLOSED_QUOTE]
    generated = generate(replace(spec, faults=tuple(map(Fault, faults, range(5, 50, 7)))))
    reading = read_file(generated.data, generated.options, chunk_rows=7, cuts=every(100, generated.data))
    assert [record.line_no for record in reading.records] == [r.first_line for r in generated.truth.records]
    assert (reading.layout.grammar.delimiter, reading.layout.encoding) == (dialect.delimiter, generated.truth.encoding)


# Where files were put together: whether there is a mark, and which lines come before the next row.
HEADERS = ("header", "Header in another case", "header, with a spare cell or without", "sep=", "SEP= and header")
INSERTED = st.dictionaries(
    st.integers(0, 8), st.tuples(st.booleans(), st.sampled_from(["", *HEADERS, *HEADERS])), max_size=4
)


def header_lines(header: str, delimiter: str, end: str, kind: str) -> list[str]:
    """The lines of a header, written in the way of that name; without one, at most the line for Excel."""
    text = header.rstrip("\r\n")
    other_case = "".join(each.swapcase() if each.isascii() else each for each in header)
    other_spare = text.removesuffix(delimiter) if text.endswith(delimiter) else text + delimiter
    ways = (header, other_case, other_spare + end, f"sep={delimiter}{end}", f"SEP={delimiter}{end}{header}")
    return [] if not kind or not (header or kind == "sep=") else ways[HEADERS.index(kind)].splitlines(keepends=True)


@given(readings(), INSERTED, st.integers(1, 5))
def test_headers_and_byte_order_marks_inside_a_file_are_not_read(
    both: tuple[Generated, Reading], inserted: dict[int, tuple[bool, str]], chunk_rows: int
) -> None:
    generated, plain = both
    data, records, encoding = generated.data, plain.records, plain.layout.encoding
    # Until the encoding is known, marks are evidence of it. What follows damage may belong to it.
    assume(plain.opening.dialect.encoding or encoding == "utf-8")
    assume(all(record.cells for record in records))
    header = data[plain.opening.dialect.mark_bytes : plain.layout.body_start].decode(encoding)
    mark = b"\xef\xbb\xbf" if encoding == "cp1252" else "\ufeff".encode(encoding)
    headers = marks = 0
    for at in sorted(inserted.keys() & range(0 if header else 1, len(records)), reverse=True):
        (marked, kind), place = inserted[at], records[at].byte_start
        lines = header_lines(header, plain.layout.grammar.delimiter, generated.spec.newline, kind)
        data = data[:place] + mark * marked + "".join(lines).encode(encoding) + data[place:]
        headers, marks = headers + len(lines), marks + marked
    reading = read_file(data, generated.options, chunk_rows=chunk_rows, cuts=every(37, data))
    assert reading.cells == plain.cells
    assert (reading.splitter.repeated_headers.count, reading.splitter.byte_order_marks.count) == (headers, marks)


# Lines of files with a header, and whether each is a line of the header.
LIKE_A_HEADER = [
    ("DOCID,Title", {"docid, TITLE ": True, " DOCID,Title,": True, "DOCID,Title, ": True, '"docid","title",""': True}),
    ("DOCID,Title", {"DOCID,": False, "DOCID,Titles": False, "DOCID,Title,x": False, "DOCID,Title,,": False}),
    ("DOCID,Title", {"DOCID": False, "Title,DOCID": False, ",Title": False, "DOC ID,Title": False}),
    ("DOCID,Title,", {"docid,title": True, "DOCID,Title,": True, "DOCID,Title,,": False, "DOCID,,": False}),
    ("DOCID,Title", {"sep=,": True, '"SEP=,"': True, "sep=;": False, "sep=,,": False, "sep=,a": False, "sep=": False}),
    ("Title,DOCID", {"sep=,": True, "a,": False, "x,docid": False, "title,docid": True}),
    ("DOCID", {"docid ": True, "docid,": True, "sep=,": True, '"sep=,"': True, "sep=": False}),
    ("DOCID,", {"sep=,": True, "docid": True, "DOCIDs,": False}),
    ("DOCID,Title,Note", {"sep=,": True, "DOCID,Title,": False, "docid,title,note,": True}),
    ("Stra\u00dfe,DOCID", {"STRASSE,docid": True}),
]


@pytest.mark.parametrize("qualifier", ["quote", "none"])
@pytest.mark.parametrize(("header", "lines"), LIKE_A_HEADER)
def test_a_line_of_a_header_has_nothing_else(header: str, lines: dict[str, bool], qualifier: str) -> None:
    for line, is_left_out in lines.items():
        if qualifier == "none" and '"' in line and "=" not in line:
            continue
        text = f"{header}\n1,a\n{line}\n2,b\n"
        options = {"encoding": "utf-8", "delimiter": ",", "qualifier": qualifier}
        reading = read_file(text.encode(), options)
        assert (reading.splitter.repeated_headers.count, len(reading.records)) == (is_left_out, 3 - is_left_out), line


def test_a_header_that_is_repeated_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitter, "MAX_REPEATED_HEADERS", 3)
    assert read_file(CONTROL * 4 + b"1,a\n").splitter.repeated_headers.count == 3
    with pytest.raises(FileRefusedError, match="repeated headers"):
        read_file(CONTROL * 5 + b"1,a\n")


@pytest.mark.parametrize("rows", [1, 2, 3, 99])
def test_chunks_have_as_many_rows_as_they_may(rows: int) -> None:
    data = CONTROL + b"".join(b"%d,x\n" % number for number in range(100))
    counts = [chunk.row_count for chunk in read_file(data, chunk_rows=rows).chunks]
    assert set(counts[:-1]) <= {rows}
    assert sum(counts) == 100


def test_a_chunk_has_no_more_than_four_megabytes_unless_it_is_one_record() -> None:
    data = CONTROL + b"".join(b"%d,%s\n" % (number, b"x" * 1_500_000) for number in range(6)) + b"7," + b"y" * 5_000_000
    reading = read_file(data + b"\n8,z\n", cuts=every(1_000_000, data))
    assert [chunk.row_count for chunk in reading.chunks] == [2, 2, 2, 1, 1]


@pytest.mark.parametrize("tail", [b"", b"\n", b"\r\n\r\n\r\n"])
def test_blank_lines_are_no_records_and_are_counted_as_lines(tail: bytes) -> None:
    reading = read_file(CONTROL + b"\n\r\n1,a\n\n2,b" + tail, chunk_rows=1)
    assert [record.line_no for record in reading.records] == [4, 6]
    assert reading.splitter.rows_seen == 2
    alone = read_file(CONTROL.rstrip(b"\n") + tail)
    assert (alone.chunks, alone.splitter.rows_seen) == ([], 0)


def test_ids_are_trimmed_of_ascii_whitespace_alone_and_records_of_other_lengths_have_none() -> None:
    reading = read_file("\ufeffControl Number,Title\n \t1\v ,a\n\u00a02,b\n  ,c\n1,a,b\n2\n".encode())
    assert reading.splitter.ids == [("1", 2), ("\u00a02", 3)]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_utf_16_file_without_a_line_end_is_read_and_not_waited_for(encoding: str) -> None:
    # The search for the last line end went on for ever where there was none.
    for text in ("\ufeffControl Number,Title", "\ufeffControl Number,Title\n1,no line end here"):
        data = text.encode(encoding)
        assert read_file(data, cuts=every(1, data)).splitter.rows_seen == text.count("1")
