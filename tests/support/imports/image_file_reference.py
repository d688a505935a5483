"""A second reader of image load files, for comparison: slow, plain, and without anything of the application.

It holds the whole file, and finds every line, document and page by the rules of docs/load-files.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support.imports.boundary_reference import Line, find_flags, has_commands

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
SPACE = " \t\x0b\x0c"
LINE_END = re.compile(rb"\r\n|\r|\n")
MARKS = ("Y", "y", "N", "n")
NUMBER = re.compile("0*[0-9]{1,9}")
TYPES = {"2": "tiff", "4": "jpeg", "5": "pdf", "6": "pdf", "7": "pdf"}
ROTATIONS = {"": 0, "0": 0, "1": 90, "2": 180, "3": 270, "90": 90, "180": 180, "270": 270}
TOO_LARGE, NO_BREAK, COLUMNS, BYTES = "RECORD_TOO_LARGE", "OPT_NO_DOC_BREAK", "OPT_COLUMNS", "UNDECODABLE_BYTES"


class Bounds(NamedTuple):
    """The most bytes of a line and of a document, and the most pages of a document."""

    line_bytes: int = 65_536
    document_bytes: int = 16_000_000
    document_pages: int = 100_000


class Said(NamedTuple):
    """What one line says; `code` is why it cannot be read. `skipped` is None for a line of a page.

    `parsed`: a line with bytes that cannot be decoded is whole otherwise.
    """

    skipped: str | None = None
    code: str | None = None
    starts: bool = False
    key: str = ""
    volume: str = ""
    path: str = ""
    declared: int | None = None
    page: int = 0
    file_type: str | None = None
    rotation: int = 0
    parsed: bool = False


class Page(NamedTuple):
    """A page, as it would be stored, and its line."""

    key: str
    volume: str
    path: str
    page: int
    rotation: int
    file_type: str | None
    line_no: int


@dataclass
class Document:
    """A document, or lines that are rejected together: lines [first, last], bytes [start, end)."""

    key: str
    first: int
    start: int
    last: int = 0
    end: int = 0
    code: str | None = None
    error_line: int = 0
    lines: list[tuple[int, Said]] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    declared: int | None = None

    @property
    def is_range(self) -> bool:
        """Whether it is rejected without being read."""
        return self.code in (TOO_LARGE, NO_BREAK)

    @property
    def has_key(self) -> bool:
        """Whether all of its lines can be parsed, so that its key is one that others must not have."""
        return not self.is_range and all(said.code is None or said.parsed for _, said in self.lines)

    @property
    def differs(self) -> bool:
        """Whether it declares another number of pages than it has."""
        return self.code is None and self.declared is not None and self.declared != len(self.pages)


@dataclass
class WholeFile:
    """Everything that a file has."""

    encoding: str
    documents: list[Document]
    lines: int
    breaks: int
    page_lines: int
    declared: int
    comments: int
    commands: Counter[str]


def read_whole(data: bytes, kind: str, bounds: Bounds, *, has_boundaries: bool = False) -> WholeFile:
    """Read a file of this kind, `opt` or `lfp`; `has_boundaries`: apply its boundary commands.

    Raises RefusedError if these cannot be applied.
    """
    mark, encoding = next(((len(bom), name) for bom, name in BOMS if data.startswith(bom)), (0, ""))
    places = list(_split(data, mark, encoding))
    encoding = encoding or _decide(data[start:end] for start, end in places if end - start <= bounds.line_bytes)
    said = [_say(data[start:end], kind, encoding, bounds) for start, end in places]
    if has_boundaries:
        said = _apply_boundaries(said, [_get_text(data[start:end], encoding, bounds) for start, end in places])
    documents = list(_group([(line, *place) for line, place in zip(said, places, strict=True)], bounds))
    pages = [line for line in said if line.skipped is None]
    return WholeFile(
        encoding,
        documents,
        lines=len(said),
        breaks=sum(line.starts for line in pages),
        page_lines=len(pages),
        declared=sum(line.declared or 0 for line in pages if line.starts),
        comments=sum(line.skipped == "##" for line in said),
        commands=Counter(line.skipped for line in said if line.skipped and line.skipped != "##"),
    )


def _split(data: bytes, start: int, encoding: str) -> Iterator[tuple[int, int]]:
    width = 2 if encoding.startswith("utf-16") else 1
    cr, lf = ("\r".encode(encoding or "ascii"), "\n".encode(encoding or "ascii"))
    at = start
    for place in range(start, len(data), width):
        unit, follows = data[place : place + width], data[place + width : place + 2 * width]
        if unit == lf or (unit == cr and follows != lf):
            yield at, place + width
            at = place + width
    if at < len(data):
        yield at, len(data)


def _decide(lines: Iterator[bytes]) -> str:
    """UTF-8, if nothing else than it is in the lines, or more of it than of anything else."""
    valid = invalid = 0
    for line in lines:
        text = line.decode("utf-8", "surrogateescape").replace("\ufeff", "")
        wrong = sum("\udc80" <= character <= "\udcff" for character in text)
        valid, invalid = valid + sum(character > "\x7f" for character in text) - wrong, invalid + wrong
    return "utf-8" if not invalid or valid > invalid else "cp1252"


def _decode(raw: bytes, encoding: str) -> str:
    if not encoding.startswith("utf-16"):
        return raw.decode(encoding, "surrogateescape")
    even = len(raw) - len(raw) % 2
    return raw[:even].decode(encoding, "surrogatepass") + "".join(chr(0xDC00 + byte) for byte in raw[even:])


def _get_text(raw: bytes, encoding: str, bounds: Bounds) -> str | None:
    mark = "\xef\xbb\xbf" if encoding == "cp1252" else "\ufeff"
    is_long = len(raw) > bounds.line_bytes
    return None if is_long else re.sub(f"^(?:{mark})+", "", _decode(raw, encoding)).rstrip("\r\n")


def _apply_boundaries(said: list[Said], texts: list[str | None]) -> list[Said]:
    lines = [Line(text, line.skipped is None, line.key, line.starts) for line, text in zip(said, texts, strict=True)]
    if not has_commands(lines):
        return said
    flags = iter(find_flags(lines))
    return [line._replace(starts=next(flags) != "") if line.skipped is None else line for line in said]


def _say(raw: bytes, kind: str, encoding: str, bounds: Bounds) -> Said:
    if len(raw) > bounds.line_bytes:
        return Said(code=TOO_LARGE)
    text = _get_text(raw, encoding, bounds) or ""
    if not text.strip(SPACE + "\x1a"):
        return Said(skipped="")
    said = _say_opt(text) if kind == "opt" else _say_lfp(text)
    if said.skipped is None and any("\ud800" <= character <= "\udfff" for character in text):
        key = re.sub("[\ud800-\udfff]", "\ufffd", said.key)
        return said._replace(code=BYTES, key=key, parsed=said.code is None)
    return said


def _say_opt(text: str) -> Said:
    raw = text.split(",")
    found = [column.strip(SPACE) for column in raw]
    while len(found) > 7 and found[-1] == "" and (found[-5] in MARKS or (found[-5] == "" and found[-4] not in MARKS)):
        found.pop()
    surplus = raw[3 : len(found) - 4]
    unclear = len(found) > 7 and (found[-5] in ("", *MARKS) or set(surplus) & set(MARKS))
    if len(found) < 4 or unclear:
        return Said(code=COLUMNS, key=found[0])
    path = ",".join([raw[2], *surplus]).strip(SPACE)
    mark, *others = found[3 + len(surplus) :]
    starts = mark in ("Y", "y")
    if mark not in ("", *MARKS):
        return Said(code=COLUMNS, key=found[0])
    count = others[2] if len(others) == 3 else ""
    if count == "" and others and (NUMBER.fullmatch(others[0]) or (len(others) == 1 and others[0] not in MARKS)):
        count = others[0]
    if found[0] == "" or path == "" or (count and not NUMBER.fullmatch(count)):
        return Said(code=COLUMNS, starts=starts, key=found[0])
    return Said(starts=starts, key=found[0], volume=found[1], path=path, declared=int(count[-9:]) if count else None)


def _say_lfp(text: str) -> Said:
    if text.strip(SPACE).startswith("##"):
        return Said(skipped="##")
    command = re.match("[ \t\x0b\x0c]*([A-Za-z]{2})[ \t\x0b\x0c]*(?:,|$)", text)
    if not command:
        return Said(code=COLUMNS)
    if command[1].upper() != "IM":
        return Said(skipped=command[1].upper())
    found = re.fullmatch("[^,]*,([^,]*),([^,]*),([^,]*),(.*)", text, re.DOTALL)
    if not found:
        return Said(code=COLUMNS)
    key, flag, offset, rest = (group.strip(SPACE) for group in found.groups())
    if flag.upper() not in ("", "D", "F", "B", "S", "C"):
        return Said(code=COLUMNS, key=key)
    said = Said(code=COLUMNS, starts=flag != "", key=key)
    file = re.fullmatch(
        "(?:@([^;]*);)?(?:(.*);)?([^;]+);[ \t]*([0-9]{1,3})[ \t]*(?:,[ \t]*([0-9]*)[ \t]*)?", rest, re.DOTALL
    )
    if not key or not file or not file[3].strip(SPACE) or (file[1] is None and rest.startswith("@")):
        return said
    if (offset and not NUMBER.fullmatch(offset)) or (file[5] or "") not in ROTATIONS:
        return said
    folder, name = (file[2] or "").strip(SPACE), file[3].strip(SPACE)
    path = folder + name if folder == "" or folder[-1] in "\\/" else f"{folder}\\{name}"
    return said._replace(
        code=None,
        volume=(file[1] or "").strip(SPACE),
        path=path,
        page=int(offset[-9:] or 0),
        file_type=TYPES.get(file[4]),
        rotation=ROTATIONS[file[5] or ""],
    )


def _group(lines: list[tuple[Said, int, int]], bounds: Bounds) -> Iterator[Document]:
    document: Document | None = None
    for line_no, (said, start, end) in enumerate(lines, start=1):
        if said.skipped is not None:
            continue
        if document is None or said.starts:
            if document:
                yield _finish(document, bounds)
            document = Document(said.key, line_no, start)
            if not said.starts:
                document.code, document.error_line = NO_BREAK, line_no
        document.last, document.end = line_no, end
        document.lines.append((line_no, said))
    if document:
        yield _finish(document, bounds)


def _finish(document: Document, bounds: Bounds) -> Document:
    said = [line for _, line in document.lines]
    first = said[0]
    alone = len(said) == 1 and first.code in (None, BYTES) and first.declared
    is_file = alone and not re.search(r"[.](jpg|jpeg|jpe|png|bmp)$", first.path, re.IGNORECASE | re.ASCII)
    pages = first.declared or 0 if is_file else len(said)
    too_large = pages > bounds.document_pages or document.end - document.start > bounds.document_bytes
    if document.code != NO_BREAK:
        if too_large or any(line.code == TOO_LARGE for line in said):
            document.code = TOO_LARGE
        else:
            document.error_line, document.code = next(
                ((number, line.code) for number, line in document.lines if line.code), (0, None)
            )
    if document.code is None:
        document.declared = first.declared
        document.pages = _pages(document.lines, pages if is_file else 0)
    return document


def _pages(lines: list[tuple[int, Said]], in_file: int) -> list[Page]:
    files: dict[tuple[str, str], list[int]] = {}
    for index, (_, said) in enumerate(lines):
        files.setdefault((said.volume, said.path), []).append(index)
    numbers = [(line_no, said, said.page) for line_no, said in lines]
    for same in files.values():
        if len(same) > 1 and not any(lines[index][1].page for index in same):
            for count, index in enumerate(same, start=1):
                numbers[index] = (*lines[index], count)
    if in_file > 1:
        line_no, said = lines[0]
        numbers = [(line_no, said, number) for number in range(1, in_file + 1)]
    return [
        Page(said.key, said.volume, said.path, number, said.rotation, said.file_type, line_no)
        for line_no, said, number in numbers
    ]
