"""Tell an Opticon file, an IPRO file and any other file apart by the content of its beginning; its name does not count.

Guaranteed: a DAT, and a CSV file with a header, are neither. Not guaranteed: that a CSV file without a header whose
columns look like those of an Opticon file, with paths of images in the third and Y in the fourth, differs from one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass

from core.image_load_file.boundaries import BoundaryCommand, parse_boundary
from core.image_load_file.ipro import COMMENT
from core.image_load_file.lines import read_line, split_texts
from core.image_load_file.page_lines import WHITESPACE, ImageFileKind, PageLine, SkippedLine
from core.load_file import encoding as enc

SAMPLE_BYTES, LONGEST_MARK_BYTES = 256 * 1024, 4
_IMAGE = re.compile(r"\.(?:tiff?|jpe?g|jpe|pdf|png|bmp|gif|jp2)\Z", re.IGNORECASE)
# A delimiter, or a qualifier in cp1252 and UTF-16, and in UTF-8 that is read byte by byte.
_DAT = ("\x14", "\u00fe", "\u00c3\u00be")


_NO_IMAGES = (
    "Its lines are those of an Opticon file, but their paths have none of the extensions of images: tif, tiff, jpg,"
    " jpeg, jpe, pdf, png, bmp, gif, jp2. Correct the paths in the third column."
)
IsPage = Callable[[ImageFileKind, PageLine], bool]


@dataclass(frozen=True)
class Detection:
    """What a file is, None for neither format, and the reason, for a message.

    `encoding` is None if only the whole file shows it; `mark_bytes` is the size of the byte order mark. `has_pages`:
    the lines are those of an Opticon file but for the extensions of their paths.
    """

    kind: ImageFileKind | None
    reason: str
    encoding: str | None = None
    mark_bytes: int = 0
    has_pages: bool = False


def detect_image_file(head: bytes, *, whole: bool, encoding: str | None = None) -> Detection:
    """Return what a file is by its first bytes; `whole`: they are the whole file. `encoding` overrides detection."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        # Before UTF-16: its byte order mark is the beginning of the one of UTF-32.
        return Detection(None, "The file is in UTF-32. Save it as UTF-8.")
    marked, mark_bytes = enc.detect_byte_order_mark(head)
    found = encoding or marked
    if found != marked and marked != enc.UTF_8:
        mark_bytes = 0
    lines = _take_lines(head[mark_bytes : mark_bytes + SAMPLE_BYTES], found or enc.BYTEWISE, whole)
    kind, reason = _find_kind(lines)
    has_pages = kind is None and 2 * _count_lines(ImageFileKind.OPT, lines, _is_path) > len(lines)
    return Detection(kind, _NO_IMAGES if has_pages else reason, found, mark_bytes, has_pages)


def detect_with_options(head: bytes, *, whole: bool, encoding: str | None, in_volume: bool) -> Detection:
    """Return what a file is with the encoding of the options, for an import.

    The options of a volume are also those of its DAT, which can have another encoding: that of the file is tried, too.
    """
    found = detect_image_file(head, whole=whole, encoding=encoding)
    return detect_image_file(head, whole=whole) if found.kind is None and in_volume else found


def _take_lines(sample: bytes, encoding: str, whole: bool) -> list[str]:
    """Return the lines that are not blank; of a longer file, without the last one, which may be cut."""
    is_cut = len(sample) == SAMPLE_BYTES or not whole
    end = enc.find_last_line_end(sample, encoding, cr_ends=True) if is_cut else 0
    texts, _, _ = split_texts(sample[: end or len(sample)], encoding)
    return [text for text in texts if text.strip(WHITESPACE)]


def _find_kind(lines: list[str]) -> tuple[ImageFileKind | None, str]:
    if not lines:
        return None, "The file is empty."
    for kind, name in ((ImageFileKind.OPT, "an Opticon"), (ImageFileKind.LFP, "an IPRO")):
        count = _count_lines(kind, lines)
        if 2 * count > len(lines):
            return kind, f"Of the first {len(lines)} lines {count} are lines of {name} file."
    if any(mark in lines[0] for mark in _DAT):
        return None, "The first line has a delimiter or a qualifier of a DAT file."
    message = "The first lines are neither pages of an Opticon file, the first of a document among them"
    return None, f"{message}, nor commands of an IPRO file, IM among them."


def _count_lines(kind: ImageFileKind, lines: list[str], is_page: IsPage | None = None) -> int:
    """Return how many lines belong to the format; 0 if the first one does not, or none begins a document."""
    is_page = is_page or _is_image
    read = [read_line(kind, line) for line in lines]
    valid = [isinstance(line, SkippedLine) or (isinstance(line, PageLine) and is_page(kind, line)) for line in read]
    begins = any(isinstance(line, PageLine) and line.starts_document for line in read)
    if kind is ImageFileKind.LFP and not begins:
        # Boundary commands, perhaps behind the sample, can begin all documents; or the sample is all commands.
        begins = any(isinstance(line, PageLine) for line in read) or _are_boundaries(lines)
    return sum(valid) if valid and valid[0] and begins else 0


def _are_boundaries(lines: list[str]) -> bool:
    return all(isinstance(parse_boundary(line), BoundaryCommand) for line in lines if not line.startswith(COMMENT))


def _is_path(_kind: ImageFileKind, line: PageLine) -> bool:
    return "\\" in line.path or "/" in line.path


def _is_image(kind: ImageFileKind, line: PageLine) -> bool:
    # The third and fourth column of a CSV file can look like a path and a document break.
    return kind is ImageFileKind.LFP or _IMAGE.search(line.path) is not None
