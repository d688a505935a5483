"""Damaged image load files are read as the second reader reads them; a reader that is less careful is found out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from core.image_load_file import document_stream
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.documents import ImageDocument
from core.image_load_file.lines import read_line
from core.image_load_file.page_lines import ImageFileKind, LineError, SkippedLine
from core.image_load_file.splitter import ImageSplitter, RejectedRange
from core.load_file.split_state import Chunk
from tests.torture import image_files
from tests.torture.mutations.image_files import image_file
from tests.torture.mutations.image_reading import judge
from tests.torture.mutations.limits import bounded
from tests.torture.mutations.records import ViolationError

FILES = 200


@pytest.mark.parametrize("files", [range(FILES), pytest.param(range(FILES, 10 * FILES), marks=pytest.mark.slow)])
def test_every_line_of_a_damaged_image_file_is_in_a_document_or_a_range_as_it_must_be(files: range) -> None:
    counts: Counter[str] = Counter()
    for number in files:
        with bounded():
            counts += judge(image_file(7, number), 7)
    assert min(counts["detected as opt"], counts["detected as lfp"]) > len(files) / 4
    assert min(counts["pages"], counts["lines"]) > 5 * len(files)
    assert min(counts[code] for code in ("OPT_COLUMNS", "OPT_NO_DOC_BREAK", "RECORD_TOO_LARGE")) > len(files) / 8
    assert min(counts["UNDECODABLE_BYTES"], counts["warned"], counts["documents"] - counts["rejected"]) > 0


class LosingSplitter(ImageSplitter):
    """A naive splitter: the document that no other one follows is not read."""

    def finish(self) -> Iterator[Chunk | RejectedRange]:
        yield from self._close()


class MiscountingSplitter(ImageSplitter):
    """A naive splitter: a chunk begins where the one before ended, whatever is in between."""

    def feed(self, block: bytes) -> Iterator[Chunk | RejectedRange]:
        for item in super().feed(block):
            yield replace(item, first_line=1 + getattr(self, "last", 0)) if isinstance(item, Chunk) else item
            self.last = item.last_line


def skip_errors(
    raw: bytes, kind: ImageFileKind, encoding: str, first_line: int, byte_start: int
) -> Iterator[ImageDocument]:
    """A naive reader: it leaves out documents that it cannot read."""
    return (each for each in read_image_chunk(raw, kind, encoding, first_line, byte_start) if not each.error)


def count_pages_for_lines(
    raw: bytes, kind: ImageFileKind, encoding: str, first_line: int, byte_start: int
) -> Iterator[ImageDocument]:
    """A naive reader: a document has as many lines as pages."""
    for each in read_image_chunk(raw, kind, encoding, first_line, byte_start):
        yield each if each.error else replace(each, line_count=len(each.pages))


def find_violations(files: int, **readers: Callable[..., Iterator[ImageDocument]] | type[ImageSplitter]) -> int:
    found = 0
    for number in range(files):
        try:
            judge(image_file(7, number), 7, **readers)  # type: ignore[arg-type]
        except ViolationError:
            found += 1
    return found


@pytest.mark.parametrize("splitter", [LosingSplitter, MiscountingSplitter])
def test_a_naive_splitter_is_found_out(splitter: type[ImageSplitter]) -> None:
    assert find_violations(60, splitter=splitter) > 5


@pytest.mark.parametrize("reader", [skip_errors, count_pages_for_lines])
def test_a_naive_reader_is_found_out(reader: Callable[..., Iterator[ImageDocument]]) -> None:
    assert find_violations(60, reader=reader) > 5


def test_a_damaged_line_that_is_left_out_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_out(kind: ImageFileKind, text: str) -> object:
        line = read_line(kind, text)
        return SkippedLine() if isinstance(line, LineError) else line

    monkeypatch.setattr(document_stream, "parse_line", leave_out)
    assert image_files.main(["--files", "30"]) == 1


def test_the_command_prints_what_it_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert image_files.main(["--files", "20", "--seed", "3"]) == 0
    assert "20 image load files" in capsys.readouterr().out
