"""Splitting an image load file: chunks of whole documents, ranges that are rejected, keys, figures and the encoding."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import Rejection
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.documents import ImageDocument
from core.image_load_file.limits import Limits
from core.image_load_file.page_lines import ImageFileKind
from core.image_load_file.splitter import ImageSplitter, RejectedRange
from core.load_file.encoding import detect_byte_order_mark
from core.load_file.split_state import Chunk


class Pass:
    """One pass over a file that arrives in blocks of one size."""

    def __init__(
        self, data: bytes, limits: Limits | None = None, kind: ImageFileKind = ImageFileKind.OPT, step: int = 10**9
    ) -> None:
        encoding, mark = detect_byte_order_mark(data)
        self.data, self.kind = data, kind
        self.splitter = ImageSplitter(kind, encoding, mark, limits or Limits())
        blocks = (data[start : start + step] for start in range(0, len(data), step))
        items = [item for block in blocks for item in self.splitter.feed(block)] + list(self.splitter.finish())
        self.chunks = [item for item in items if isinstance(item, Chunk)]
        self.ranges = [item for item in items if isinstance(item, RejectedRange)]

    @property
    def documents(self) -> list[ImageDocument]:
        """The documents of all chunks."""
        return [document for chunk in self.chunks for document in self.read(chunk)]

    def read(self, chunk: Chunk) -> Iterator[ImageDocument]:
        """The documents of one chunk."""
        raw = self.data[chunk.byte_start : chunk.byte_end]
        return read_image_chunk(raw, self.kind, self.splitter.encoding, chunk.first_line, chunk.byte_start)


def opticon(*pages: int) -> bytes:
    """A document of each of these numbers of pages."""
    lines = []
    for number, count in enumerate(pages, start=1):
        lines += [f"D{number}_{page},V,{number}_{page}.tif,{'Y' if page == 1 else ''}" for page in range(1, count + 1)]
    return "".join(line + "\r\n" for line in lines).encode()


def rows(chunks: list[Chunk]) -> list[int]:
    return [chunk.row_count for chunk in chunks]


@given(
    st.lists(st.integers(1, 5), max_size=12),
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(1, 300),
    st.sampled_from((1, 7, 10**9)),
)
def test_the_documents_of_all_chunks_are_those_of_the_file_for_every_chunk_size(
    pages: list[int], documents: int, lines: int, size: int, step: int
) -> None:
    data = opticon(*pages)
    reading = Pass(data, Limits(documents, chunk_lines=lines, chunk_bytes=size), step=step)
    assert reading.documents == list(read_image_chunk(data, ImageFileKind.OPT, "utf-8", 1, 0))
    assert [len(document.pages) for document in reading.documents] == pages
    for chunk in reading.chunks:
        assert chunk.row_count <= documents
        assert chunk.row_count == 1 or chunk.last_line - chunk.first_line < lines
        assert chunk.row_count == 1 or chunk.byte_end - chunk.byte_start <= size
        assert chunk.sha256 == hashlib.sha256(data[chunk.byte_start : chunk.byte_end]).digest()


def test_a_chunk_has_at_most_1000_documents_and_5000_lines_and_a_larger_document_is_its_own() -> None:
    assert rows(Pass(opticon(*[1] * 2_500)).chunks) == [1_000, 1_000, 500]
    assert rows(Pass(opticon(*[100] * 51)).chunks) == [50, 1]
    assert rows(Pass(opticon(1, 5_001, 1)).chunks) == [1, 1, 1]


def test_a_chunk_has_at_most_four_megabytes() -> None:
    line = b"D%05d,V," + b"x" * 60_000 + b".tif,Y\n"
    data = b"".join(line % number for number in range(100))
    chunks = Pass(data).chunks
    assert rows(chunks) == [66, 34]
    assert max(chunk.byte_end - chunk.byte_start for chunk in chunks) <= 4_000_000


def test_a_chunk_has_at_most_20_000_pages_also_where_a_line_declares_many() -> None:
    data = b"".join(b"D%05d,V,%05d.pdf,Y,,,2500\r\n" % (number, number) for number in range(20))
    reading = Pass(data)
    pages = [sum(len(each.pages) for each in reading.read(chunk)) for chunk in reading.chunks]
    assert pages == [20_000, 20_000, 10_000]
    assert rows(Pass(b"A,V,a.pdf,Y,,,20001\r\nB,V,b.pdf,Y,,,1\r\n").chunks) == [1, 1]


@pytest.mark.parametrize("step", [5, 10**9])
def test_lines_before_the_first_document_break_are_one_range(step: int) -> None:
    before = b"\nImageKey,Volume,Path,DocBreak\nA,V,a.tif,\n\n"
    reading = Pass(before + opticon(2), step=step)
    [lost] = reading.ranges
    assert (lost.code, lost.first_line, lost.last_line) == (Rejection.OPT_NO_DOC_BREAK, 2, 3)
    assert (lost.byte_start, lost.byte_end) == (1, len(before) - 1)
    [document] = reading.documents
    assert (document.line_no, len(document.pages), reading.splitter.rows_seen) == (5, 2, 2)


def test_a_document_over_100_000_pages_is_one_range_by_its_lines_or_by_its_count() -> None:
    data = opticon(1, 100_001) + b"E,V,e.pdf,Y,100001\nF,V,f.pdf,Y,100000\n"
    reading = Pass(data)
    assert [(each.code, each.key, each.last_line - each.first_line) for each in reading.ranges] == [
        (Rejection.RECORD_TOO_LARGE, "D2_1", 100_000),
        (Rejection.RECORD_TOO_LARGE, "E", 0),
    ]
    assert [(document.key, len(document.pages)) for document in reading.documents] == [("D1_1", 1), ("F", 100_000)]
    assert [key for key, _ in reading.splitter.keys] == ["D1_1", "F"]
    assert reading.splitter.rows_seen == 4


@pytest.mark.parametrize("step", [100, 10**9])
def test_a_line_over_the_limit_rejects_its_document_only(step: int) -> None:
    data = opticon(1) + b"L,V,l.tif,Y\n" + b"x" * 70_000 + b"\nM,V,m.tif,\n" + b"E,V,e.tif,Y\n"
    reading = Pass(data, step=step)
    [large] = reading.ranges
    assert (large.code, large.key) == (Rejection.RECORD_TOO_LARGE, "L")
    assert (large.first_line, large.last_line) == (2, 4)
    assert data[large.byte_start : large.byte_end].endswith(b"M,V,m.tif,\n")
    assert [document.key for document in reading.documents] == ["D1_1", "E"]


@pytest.mark.parametrize("size", [65_536, 65_537])
@pytest.mark.parametrize("step", [1_000, 10**9])
def test_a_line_of_exactly_64_kilobytes_is_read(size: int, step: int) -> None:
    line = b"A,V," + b"x" * (size - 12) + b".tif,Y\r\n"
    reading = Pass(line[: size - 2] + b"\r\n", step=step)
    assert len(reading.data) == size
    assert [len(reading.documents), len(reading.ranges)] == ([1, 0] if size == 65_536 else [0, 1])


@pytest.mark.parametrize("first", [b"", b"A,V,a.tif,Y\n"])
@pytest.mark.parametrize("what", [b"x" * 90_000, b"A,V,a.tif,\n" * 4_000, b"\n" * 40_000])
def test_memory_does_not_grow_with_a_line_a_document_or_blank_lines(first: bytes, what: bytes) -> None:
    splitter = ImageSplitter(ImageFileKind.OPT, "utf-8", 0, Limits(document_bytes=10_000, document_pages=100))
    list(splitter.feed(first + what))
    tracemalloc.start()
    for _ in range(3):
        assert list(splitter.feed(what)) == []
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 20_000


def test_the_keys_of_documents_come_with_their_lines_so_that_duplicates_can_be_found() -> None:
    data = b"A,V,1.tif,Y\nA,V,2.tif,\nB,V,3.tif,Y\nA,V,4.tif,Y\ngarbage\n C ,V,5.tif,Y\n"
    assert Pass(data).splitter.keys == [("A", 1), ("B", 3), ("C", 6)]


def test_figures_are_those_of_the_whole_file() -> None:
    data = b"## made by hand\r\nIM,A,D,0,@V;;a.tif;2\r\nFT,A,1\r\nIM,B,C,0,@V;;b.tif;2\r\n\r\nft,B,1\r\nBF,B,D"
    splitter = Pass(data, kind=ImageFileKind.LFP).splitter
    counts = splitter.counts
    assert (splitter.lines_seen, splitter.rows_seen, splitter.sha256) == (7, 2, hashlib.sha256(data).digest())
    assert (counts.documents, counts.page_lines, counts.pages_declared, counts.comments) == (2, 2, 0, 1)
    assert {name: lines.list_lines() for name, lines in counts.other_commands.items()} == {
        "FT": "line 3, line 6",
        "BF": "line 7",
    }
    assert Pass(b"A,V,a.pdf,Y,3\nB,V,b.pdf,Y,4\n").splitter.counts.pages_declared == 7


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("cp1252", "cp1252"), ("utf-16", "utf-16-le")],
)
def test_the_encoding_is_decided_by_the_whole_file(encoding: str, name: str) -> None:
    text = "".join(f"A{number},V,a.tif,Y\r\n" for number in range(50)) + "Müller,V,é.tif,Y\r\n"
    reading = Pass(text.encode(encoding), Limits(chunk_documents=10), step=11)
    assert reading.splitter.encoding == name
    assert reading.splitter.decode_key(reading.splitter.keys[-1][0]) == "Müller"
    assert (reading.documents[-1].key, reading.documents[-1].pages[0].path) == ("Müller", "é.tif")
    assert all(document.error is None for document in reading.documents)


def test_a_bad_byte_in_a_utf_8_file_costs_its_document_and_not_the_file() -> None:
    data = "A,V,crème brûlée.tif,Y\n".encode() + b"B,V,\xe9.tif,Y\n" + b"C,V,c.tif,Y\n"
    reading = Pass(data)
    codes = [document.error and document.error.code for document in reading.documents]
    assert (reading.splitter.encoding, codes) == ("utf-8", [None, Rejection.UNDECODABLE_BYTES, None])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_the_byte_order_mark_of_a_file_put_behind_another_belongs_to_no_key(encoding: str) -> None:
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    part = f"{mark}A,V,a.tif,Y\n".encode(encoding)
    reading = Pass(part + part)
    assert [document.key for document in reading.documents] == ["A", "A"]
    assert reading.splitter.byte_order_marks.lines == [2]


@pytest.mark.parametrize("data", [b"", b"\r\n\r\n", b"\x1a", "\ufeff".encode()])
def test_a_file_without_pages_has_no_chunks(data: bytes) -> None:
    reading = Pass(data)
    assert (reading.chunks, reading.ranges, reading.splitter.rows_seen) == ([], [], 0)
