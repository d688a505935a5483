"""The documents of an image load file: their pages, the hash of these, and what they declare."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from core.codes import Rejection, WarningCode
from core.image_load_file.page_lines import FileType, LineError, PageLine

# Formats that have one page in a file.
_SINGLE_PAGE = (".jpg", ".jpeg", ".jpe", ".png", ".bmp")


class ImagePage(NamedTuple):
    """A page: its image key, its file as the line names it, and its number in that file; 0 is the whole file.

    `rotation` is clockwise, in degrees. `line_no` is the line that names the page.
    """

    image_key: str
    volume: str
    path: str
    page_in_file: int
    rotation: int
    file_type: FileType | None
    line_no: int


class DocumentWarning(NamedTuple):
    """What is doubtful about a document that is imported, with a message for the report."""

    code: WarningCode
    message: str


@dataclass(frozen=True)
class ImageDocument:
    """A document: its key, its lines [line_no, line_no + line_count), its bytes and its pages in order.

    `declared_count` is the page count of its first line, None if it has none. `error` is the first reason why the
    document is rejected with all of its lines; it has no pages then.
    """

    key: str
    line_no: int
    line_count: int
    byte_start: int
    byte_len: int
    pages: list[ImagePage]
    declared_count: int | None = None
    error: LineError | None = None
    warnings: tuple[DocumentWarning, ...] = ()

    @cached_property
    def content_hash(self) -> bytes:
        """The SHA-256 of the pages in order: image key, volume, path, page in the file and rotation of each.

        The line numbers and the file types do not count.
        """
        # No field has a line end, so that different pages have different texts.
        fields = [
            f"{page.image_key}\n{page.volume}\n{page.path}\n{page.page_in_file}\n{page.rotation}\n"
            for page in self.pages
        ]
        return hashlib.sha256("".join(fields).encode()).digest()


def list_pages(lines: list[tuple[int, PageLine]]) -> list[ImagePage]:
    """Return the pages of a document from its lines and their numbers.

    A single line that declares a count is that many pages of its file. A file that several lines name has one page for
    each of them, in order, unless a line says which page it is.
    """
    line_no, first = lines[0]
    pages_in_file = count_pages(first, len(lines))
    if pages_in_file > len(lines):
        return [_build_page(line_no, first, number) for number in range(1, pages_in_file + 1)]
    named = Counter((line.volume, line.path) for _, line in lines)
    if len(named) == len(lines):
        return [_build_page(line_no, line, line.page_in_file) for line_no, line in lines]
    placed = {(line.volume, line.path) for _, line in lines if line.page_in_file}
    seen: Counter[tuple[str, str]] = Counter()
    pages = []
    for line_no, line in lines:
        file = (line.volume, line.path)
        seen[file] += 1
        counted = named[file] > 1 and file not in placed
        pages.append(_build_page(line_no, line, seen[file] if counted else line.page_in_file))
    return pages


def count_pages(first: PageLine, lines: int) -> int:
    """Return the number of pages of a document, of its first line and the number of its lines.

    A line alone that declares a count stands for so many pages of its file, unless that is in a format of one page.
    """
    is_one_file = lines == 1 and first.page_count and not first.path.lower().endswith(_SINGLE_PAGE)
    return first.page_count or 1 if is_one_file else lines


def has_uncounted_file(pages: Sequence[ImagePage], declared_count: int | None) -> bool:
    """Return whether one line without a page count names a whole file that can have several pages."""
    if len(pages) != 1 or declared_count is not None or pages[0].page_in_file:
        return False
    return pages[0].file_type is not FileType.JPEG and not pages[0].path.lower().endswith(_SINGLE_PAGE)


def check_page_count(declared: int | None, pages: int) -> tuple[DocumentWarning, ...]:
    """Return the warning that the declared number of pages and that of the lines differ, if they do."""
    if declared is None or declared == pages:
        return ()
    message = f"The document declares {declared} pages and has {pages}. Look for missing lines, or correct the count."
    return (DocumentWarning(WarningCode.OPT_PAGE_COUNT, message),)


def describe_missing_break(line_no: int) -> LineError:
    """Return the error of the lines before the first document break."""
    message = "No document break precedes this line. Set the document break of the first page of each document."
    return LineError(Rejection.OPT_NO_DOC_BREAK, None, message, line_no=line_no)


def describe_large_document(line_no: int, what: str = "more than 100,000 pages") -> LineError:
    """Return the error of a document over a limit."""
    message = f"The document has {what}. Look for a missing document break after it."
    return LineError(Rejection.RECORD_TOO_LARGE, None, message, line_no=line_no)


def _build_page(line_no: int, line: PageLine, page_in_file: int) -> ImagePage:
    return ImagePage(line.image_key, line.volume, line.path, page_in_file, line.rotation, line.file_type, line_no)
