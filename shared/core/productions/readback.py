"""Read the load files and the manifest of a volume back, and compare them with what was reserved.

Guaranteed: nothing here is shared with the code that writes a volume, so an error of the writer is not repeated. Files
are compared in the order of the numbers while they are read: memory does not depend on their size.
Not guaranteed: the texts of the DAT's other columns, which change with the exhibits.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.errors import WrongStateError

_CELL = re.compile("\u00fe((?:[^\u00fe]|\u00fe\u00fe)*+)\u00fe(\x14|\\Z)")
_KINDS = ("NATIVES", "TEXT", "IMAGES")
_LINKS = {"NATIVES": "Native Link", "TEXT": "Text Link"}


class OptLine(NamedTuple):
    """A line of an OPT, as text."""

    key: str
    volume: str
    path: str
    begins: str
    pages: str


class ListedFile(NamedTuple):
    """A line of a manifest; `sha256` in hexadecimal digits."""

    path: str
    size: int
    sha256: str


class ReservedFile(NamedTuple):
    """A file that must be in the volume under a Bates number; size and SHA-256 (hexadecimal) where they are known."""

    number: str
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class ReservedDocument:
    """What must be in the volume for a document; `pages` is None where the OPT has no count for it."""

    begin: str
    end: str
    files: Mapping[str, ReservedFile]
    images: Sequence[ReservedFile]
    pages: int | None
    cells: Mapping[str, str] = field(default_factory=dict)


class VolumeDiffersError(WrongStateError):
    """The volume was read back and is not what was reserved; report it, and create a new production.

    `difference` says where, without content of a document.
    """

    def __init__(self, difference: str) -> None:
        super().__init__(f"the volume was read back and is not what was reserved: {difference}")


@dataclass
class VolumeContents:
    """What was read back: records of the DAT, lines of the OPT and the manifest, and objects by folder, in order."""

    volume: str
    dat: Iterator[Mapping[str, str]]
    opt: Iterator[OptLine]
    manifest: Iterator[ListedFile]
    objects: Mapping[str, Iterator[tuple[str, int]]]
    documents: int = 0
    lines: int = 0


def compare_volume(reserved: Iterable[ReservedDocument], contents: VolumeContents) -> None:
    """Compare all documents, and what follows them. Raises VolumeDiffersError at the first difference.

    The lines of the load files are left in `contents.manifest`.
    """
    for document in reserved:
        contents.documents += 1
        _compare_document(document, contents)
    _require(next(contents.dat, None) is None, f"the DAT has more than {contents.documents} records")
    _require(next(contents.opt, None) is None, f"the OPT has more than {contents.lines} lines")
    for folder, objects in contents.objects.items():
        _require(next(objects, None) is None, f"{folder} has more files than the load files name")


def _compare_document(document: ReservedDocument, contents: VolumeContents) -> None:
    record, at = next(contents.dat, None), f"record {contents.documents} of the DAT"
    if record is None:
        raise VolumeDiffersError(f"{at} is missing")
    expected = {"Begin Bates": document.begin, "End Bates": document.end, **document.cells}
    for column, value in expected.items():
        _require(record.get(column) == value, f"{at}: the column {column} is not what was reserved")
    for kind, column in _LINKS.items():
        link, file = record.get(column), document.files.get(kind)
        if file is None:
            _require(not link, f"{at}: the column {column} names a file that was not reserved")
        else:
            _compare_file(kind, link or "", file, contents, f"{at}, {column}")
    for index, image in enumerate(document.images):
        _compare_image(document, image, index == 0, contents)


def _compare_image(document: ReservedDocument, image: ReservedFile, is_first: bool, contents: VolumeContents) -> None:
    contents.lines += 1
    line, at = next(contents.opt, None), f"line {contents.lines} of the OPT"
    if line is None:
        raise VolumeDiffersError(f"{at} is missing")
    count = str(document.pages) if is_first and document.pages is not None else ""
    _require(line.key == image.number, f"{at}: the image key is not what was reserved")
    _require(line.volume == contents.volume, f"{at}: the volume is another one")
    _require(line.begins == ("Y" if is_first else ""), f"{at}: the document break is wrong")
    _require(line.pages == count, f"{at}: the page count is not what was reserved")
    _compare_file("IMAGES", line.path, image, contents, at)


def _compare_file(kind: str, link: str, file: ReservedFile, contents: VolumeContents, at: str) -> None:
    """Compare a link with the number that its file must have, with the manifest, and with the bucket."""
    names = link.split("\\")
    is_named = len(names) == 4 and names[:2] == [contents.volume, kind]
    _require(is_named and names[3].partition(".")[0] == file.number, f"{at}: the path is not that of its number")
    path, listed = "/".join(names[1:]), next(contents.manifest, None)
    if listed is None or listed.path != path:
        raise VolumeDiffersError(f"{at}: the manifest does not list its file at this place")
    _require(next(contents.objects[kind], None) == (path, listed.size), f"{at}: the bucket has another file")
    _require(file.size in (None, listed.size), f"{at}: the file has another size than its source")
    _require(file.sha256 in (None, listed.sha256), f"{at}: the file has another SHA-256 than its source")


def _require(holds: bool, difference: str) -> None:
    if not holds:
        raise VolumeDiffersError(difference)


def read_dat(blocks: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """Yield the records of a DAT by column. Raises VolumeDiffersError for a record of other columns than the header."""
    header: list[str] | None = None
    for number, text in enumerate(_join_records(_read_lines(blocks))):
        cells, size = [], 0
        while found := _CELL.match(text, size):
            cells.append(found[1].replace("\u00fe\u00fe", "\u00fe"))
            size = found.end()
        _require(size == len(text), f"record {number} of the DAT is damaged")
        if header is None:
            header = cells
            continue
        _require(len(cells) == len(header), f"record {number} of the DAT has {len(cells)} cells")
        yield dict(zip(header, cells, strict=True))


def _join_records(lines: Iterable[str]) -> Iterator[str]:
    """Join the lines of a record: within a cell, the number of qualifiers is odd."""
    parts: list[str] = []
    qualifiers = 0
    for line in lines:
        parts.append(line)
        qualifiers += line.count("\u00fe")
        if not qualifiers % 2:
            yield "\r\n".join(parts)
            parts, qualifiers = [], 0
    _require(not parts, "the DAT ends within a record")


def read_opt(blocks: Iterable[bytes]) -> Iterator[OptLine]:
    """Yield the lines of an OPT. Raises VolumeDiffersError for a line without seven columns."""
    for number, line in enumerate(_read_lines(blocks), 1):
        cells = line.split(",")
        _require(len(cells) == 7, f"line {number} of the OPT has {len(cells)} columns")
        key, volume, path, begins, _, _, pages = cells
        yield OptLine(key, volume, path, begins, pages)


def read_manifest(blocks: Iterable[bytes]) -> Iterator[ListedFile]:
    """Yield the lines of a manifest after its header. Raises VolumeDiffersError for a line of another form."""
    for number, line in enumerate(_read_lines(blocks)):
        cells = line.split(",")
        _require(
            len(cells) == 3 and (not number or cells[1].isdecimal()), f"line {number + 1} of the manifest is wrong"
        )
        if number:
            yield ListedFile(cells[0], int(cells[1]), cells[2])


def _read_lines(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines that CRLF ends, without it. Raises VolumeDiffersError if the last one has none."""
    decoder, rest = codecs.getincrementaldecoder("utf-8-sig")(), ""
    for block in blocks:
        *lines, rest = (rest + decoder.decode(block)).split("\r\n")
        yield from lines
    _require(not rest, "a file of the volume does not end with a line break")
