"""A generated volume: load file, image load file, natives, texts and page images, with a few planted faults.

Guarantees: the same files every time for one spec and one version of Pillow; every fault is listed, with the
code that an import has for it. Does not guarantee: that a native is more than a few lines of text;
images are pages with a number.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw

_PAGE_PIXELS, _PAGE_DPI = (425, 550), 50
_COLUMNS = (
    "Begin Bates",
    "End Bates",
    "Begin Attach",
    "End Attach",
    "Parent Bates",
    "Custodian",
    "Email Subject",
    "Date Sent",
    "File Name",
    "MD5 Hash",
    "Native Link",
    "Text Link",
)
_CUSTODIANS = ("Lovelace, Ada", "Hopper, Grace", "Noether, Emmy")
_SUBJECTS = ("Board budget", "Site visit", "Draft agreement", "Minutes", "Invoice", "Travel plan")
_UNKNOWN_DOCUMENT = "9999999"


class VolumeFault(NamedTuple):
    """A planted fault: the code that an import has for it, the document or file that it is about, and what it is."""

    code: str
    place: str
    text: str


@dataclass(frozen=True)
class VolumeSpec:
    """What is generated: `families` of an e-mail and up to two attachments, each document of one to three pages."""

    name: str = "VOL001"
    prefix: str = "DEMO"
    families: int = 10
    has_faults: bool = True


@dataclass(frozen=True)
class Document:
    """A document of a volume: its place in it, from 0, its first number, its pages, and the first number of its family.

    `parent` is the number of its e-mail, empty for an e-mail.
    """

    place: int
    prefix: str
    first: int
    pages: int
    parent: str
    family: tuple[str, str]

    @property
    def numbers(self) -> list[str]:
        """The Bates numbers of its pages; the first one is its own."""
        return [_number(self.prefix, self.first + page) for page in range(self.pages)]

    @property
    def native(self) -> str:
        """The path of its native."""
        return f"NATIVES/{self.numbers[0]}.{'txt' if self.parent else 'eml'}"

    @property
    def text(self) -> str:
        """The path of its text."""
        return f"TEXT/{self.numbers[0]}.txt"

    @property
    def subject(self) -> str:
        """Its subject."""
        return f"{_SUBJECTS[self.place % len(_SUBJECTS)]} {self.place + 1}"


@dataclass(frozen=True)
class GeneratedVolume:
    """A volume: its documents in order, and its faults."""

    spec: VolumeSpec
    documents: Sequence[Document]

    @cached_property
    def faults(self) -> list[VolumeFault]:
        """The planted faults."""
        if not self.spec.has_faults:
            return []
        unknown = self.spec.prefix + _UNKNOWN_DOCUMENT
        native, text, image = (self.documents[at] for at in self._faulty)
        return [
            VolumeFault("NATIVE_MISSING", native.native, "native that a row names is missing"),
            VolumeFault("TEXT_MISSING", text.text, "text that a row names is missing"),
            VolumeFault("IMAGE_MISSING", _image(image.numbers[-1]), "image of a page is missing"),
            *self._list_left_out(),
            VolumeFault("OPT_DOC_NOT_FOUND", unknown, "page of a document that no row has"),
            VolumeFault("UNREFERENCED_FILE", "NATIVES/unnamed.txt", "file that nothing names"),
        ]

    def _list_left_out(self) -> Iterator[VolumeFault]:
        """Yield the fault of the first document of three pages, if there is one: its second page is left out."""
        document = next((each for each in self.documents if each.pages > 2), None)
        if document:
            stated = f"page of {document.numbers[0]} - {document.numbers[-1]} that the .opt leaves out"
            yield VolumeFault("PAGES_MISSING", document.numbers[1], stated)

    @property
    def pages(self) -> int:
        """The number of pages that the image load file gives to its documents."""
        return sum(len(self._list_pages(document)) for document in self.documents)

    def _list_pages(self, document: Document) -> list[str]:
        left_out = {fault.place for fault in self.faults if fault.code == "PAGES_MISSING"}
        return [number for number in document.numbers if number not in left_out]

    @property
    def _faulty(self) -> tuple[int, int, int]:
        """The places of the documents without native, without text, and without their last image."""
        last = len(self.documents) - 1
        return last // 5, last // 2, last

    def list_files(self) -> Iterator[tuple[str, bytes]]:
        """Yield path and bytes of every file."""
        missing = {fault.place for fault in self.faults if fault.code.endswith("_MISSING")}
        missing |= {_image(fault.place) for fault in self.faults if fault.code == "PAGES_MISSING"}
        yield f"DATA/{self.spec.name}.dat", self._build_dat()
        yield f"DATA/{self.spec.name}.opt", self._build_opt()
        for path, data in chain.from_iterable(map(_list_files, self.documents)):
            if path not in missing:
                yield path, data
        yield from ((fault.place, b"left over\r\n") for fault in self.faults if fault.code == "UNREFERENCED_FILE")

    def write(self, parent: Path) -> Path:
        """Write the files to a folder with the volume's name in `parent`, and return it."""
        folder = parent / self.spec.name
        for path, data in self.list_files():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return folder

    def _build_dat(self) -> bytes:
        rows = [_COLUMNS, *map(self._build_row, self.documents)]
        lines = ["\x14".join(f"þ{cell}þ" for cell in row) + "\r\n" for row in rows]
        return "".join(lines).encode("utf-8-sig")

    def _build_row(self, document: Document) -> tuple[str, ...]:
        windows = (self.spec.name + "\\" + path.replace("/", "\\") for path in (document.native, document.text))
        return (
            document.numbers[0],
            document.numbers[-1],
            *document.family,
            document.parent,
            _CUSTODIANS[document.place % len(_CUSTODIANS)],
            document.subject,
            f"2024-03-{document.place % 28 + 1:02}T09:30:00Z",
            document.native.rpartition("/")[2],
            hashlib.md5(_native(document), usedforsecurity=False).hexdigest(),
            *windows,
        )

    def _build_opt(self) -> bytes:
        lines = [
            f"{number},{self.spec.name},{_image(number)},{'' if page else 'Y'},,,{'' if page else len(pages)}"
            for pages in map(self._list_pages, self.documents)
            for page, number in enumerate(pages)
        ]
        unknown = [fault.place for fault in self.faults if fault.code == "OPT_DOC_NOT_FOUND"]
        lines += [f"{number},{self.spec.name},{_image(number)},Y,,,1" for number in unknown]
        return "".join(f"{line.replace('/', chr(92))}\r\n" for line in lines).encode("ascii")


def generate_volume(spec: VolumeSpec) -> GeneratedVolume:
    """Return the volume of a spec."""
    documents, first = list[Document](), 1
    for family in range(spec.families):
        pages = [1 + (family + member) % 3 for member in range(1 + family % 3)]
        parent, last = _number(spec.prefix, first), _number(spec.prefix, first + sum(pages) - 1)
        for member, count in enumerate(pages):
            place = (len(documents), spec.prefix, first, count)
            documents.append(Document(*place, parent if member else "", (parent, last)))
            first += count
    return GeneratedVolume(spec, documents)


def _number(prefix: str, number: int) -> str:
    return f"{prefix}{number:07}"


def _image(number: str) -> str:
    return f"IMAGES/{number}.tif"


def _list_files(document: Document) -> Iterator[tuple[str, bytes]]:
    yield document.native, _native(document)
    yield document.text, f"{document.subject}\r\n\r\nText of {document.numbers[0]}.\r\n".encode()
    for page, number in enumerate(document.numbers, 1):
        yield _image(number), _draw([document.subject, f"page {page} of {document.pages}", number])


def _native(document: Document) -> bytes:
    return f"Subject: {document.subject}\r\n\r\nNative of {document.numbers[0]}.\r\n".encode()


def _draw(lines: Sequence[str]) -> bytes:
    page = Image.new("1", _PAGE_PIXELS, 1)
    ImageDraw.Draw(page).multiline_text((40, 40), "\n\n".join(lines), fill=0)
    written = io.BytesIO()
    page.save(written, "TIFF", compression="group4", dpi=(_PAGE_DPI, _PAGE_DPI))
    return written.getvalue()
