"""What a line of an image load file says, whichever of the two formats it is in."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from core.codes import Rejection

# Only ASCII: the other white space of Unicode depends on the encoding, and lines are split before that is known.
WHITESPACE = " \t\x0b\x0c"
_NUMBER = re.compile("0*([0-9]{1,9})")


class ImageFileKind(StrEnum):
    """The format of an image load file."""

    OPT = "opt"
    LFP = "lfp"


class FileType(StrEnum):
    """The format of an image, as the load file declares it."""

    TIFF = "tiff"
    JPEG = "jpeg"
    PDF = "pdf"


class PageLine(NamedTuple):
    """A page, or all pages of a file: image key, volume, and path as it is written.

    `page_count` is the declared number of pages of the document, None if none is declared. `page_in_file` is the page's
    number in its file, from 1; 0 is the whole file. `rotation` is clockwise, in degrees: 0, 90, 180 or 270.
    """

    image_key: str
    volume: str
    path: str
    starts_document: bool
    page_count: int | None = None
    page_in_file: int = 0
    file_type: FileType | None = None
    rotation: int = 0


class LineError(NamedTuple):
    """Why a line cannot be read: a code, the column at fault (None: the whole line), a message for the report.

    `starts_document`: the line begins a document all the same; one whose document break cannot be read continues the
    document before it. `image_key` is blank if the line has none. `line_no` is 0 until a reader sets it.
    """

    code: Rejection
    column: str | None
    message: str
    starts_document: bool = False
    image_key: str = ""
    line_no: int = 0


class SkippedLine(NamedTuple):
    """A line that is not a page: blank (no `command`), a comment (`##`), or another command of an LFP."""

    command: str = ""


def parse_number(text: str) -> int | None:
    """Return the whole number below a billion that the text is, None if it is something else."""
    found = _NUMBER.fullmatch(text)
    return int(found[1]) if found else None
