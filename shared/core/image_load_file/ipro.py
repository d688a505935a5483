"""Read a line of an IPRO file (LFP): IM,key,flag,offset,@volume;directory;file;type[,rotation].

Sources: IPRO eCapture help, "Import a New Page (IM)"; docs.zylab.com (IPRO). `IM` is the only command that is read
here; BF, BM and BR change its flag (`core.image_load_file.boundaries`), and FT, OF, IO, IS and the others, which add to
what IPRO shows, are counted.
"""

from __future__ import annotations

import re

from core.codes import Rejection
from core.image_load_file.page_lines import WHITESPACE, FileType, LineError, PageLine, SkippedLine, parse_number

COMMENT = "##"
# Document, folder, box, source, and a child of the document before; a page has none.
_STARTS_DOCUMENT = dict.fromkeys("DFBSCdfbsc", True) | {"": False}
_TYPES = {"2": FileType.TIFF, "4": FileType.JPEG, "5": FileType.PDF, "6": FileType.PDF, "7": FileType.PDF}
_ROTATIONS = {"": 0, "0": 0, "1": 90, "2": 180, "3": 270, "90": 90, "180": 180, "270": 270}
_COMMAND = re.compile("[A-Za-z]{2}")
# Type and rotation are after the last semicolon: a folder or a file can have commas. Possessive: a run of blanks is
# scanned once, whatever follows it.
_FILE = re.compile(
    r"(?P<place>.*);[ \t]*+(?P<type>[0-9]{1,3})[ \t]*+(?:,[ \t]*+(?P<rotation>[0-9]*+)[ \t]*+)?", re.DOTALL
)


def parse_lfp_line(text: str) -> PageLine | LineError | SkippedLine:
    """Return what a line says, which is not blank and without its line end."""
    columns = [column.strip(WHITESPACE) for column in text.split(",", 4)]
    if columns[0].startswith(COMMENT):
        return SkippedLine(COMMENT)
    if not _COMMAND.fullmatch(columns[0]):
        return _describe(None, "The line does not begin with a command of two letters and a comma. Remove it.")
    if columns[0].upper() != "IM":
        return SkippedLine(columns[0].upper())
    if len(columns) < 5:
        return _describe(None, "The line has fewer columns than IM,key,flag,offset,file. Add the missing ones.")
    return _parse_page(*columns[1:])


def _parse_page(image_key: str, flag: str, offset: str, file: str) -> PageLine | LineError:
    starts_document = _STARTS_DOCUMENT.get(flag)
    if starts_document is None:
        message = "The boundary flag is neither D, F, B, S, C nor blank. Correct it."
        return _describe("boundary flag", message, False, image_key)
    if not image_key:
        return _describe("image key", "The image key is blank. Correct it.", starts_document)
    page = parse_number(offset or "0")
    if page is None:
        return _describe("offset", "The offset is not the number of a page. Correct it.", starts_document, image_key)
    found = _FILE.fullmatch(file)
    volume, path = _split_place(found["place"]) if found else ("", "")
    if not found or not path:
        message = "The file is not written as @volume;directory;file;type. Correct it."
        return _describe("file", message, starts_document, image_key)
    rotation = _ROTATIONS.get(found["rotation"] or "")
    if rotation is None:
        message = "The rotation is neither 0 to 3 nor 90, 180 or 270. Correct it."
        return _describe("rotation", message, starts_document, image_key)
    file_type = _TYPES.get(found["type"])
    return PageLine(image_key, volume, path, starts_document, None, page, file_type, rotation)


def _split_place(place: str) -> tuple[str, str]:
    r"""Return volume and path of `@volume;directory;file`, or of a file alone; the path is blank without a file."""
    volume, *others = place.split(";") if place.startswith("@") else ["", *place.split(";")]
    directory, file = ";".join(others[:-1]).strip(WHITESPACE), "".join(others[-1:]).strip(WHITESPACE)
    separator = "" if not directory or directory.endswith(("\\", "/")) else "\\"
    return volume.removeprefix("@").strip(WHITESPACE), f"{directory}{separator}{file}" if file else ""


def _describe(column: str | None, message: str, starts_document: bool = False, image_key: str = "") -> LineError:
    return LineError(Rejection.OPT_COLUMNS, column, message, starts_document, image_key)
