"""A generated volume: documents with a native, a text and a TIFF file for each page, five pages on average.

Guaranteed: the same number of documents gives the same files. Not guaranteed: that the files are more than bytes, which
nothing of what is measured opens.
"""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterator
from pathlib import Path

PAGES = (3, 4, 5, 6, 7)
_HEADER = ("Begin Bates", "End Bates", "Title", "Native Link", "Text Link")
_SIZES = {"NATIVES": 1_000, "TEXT": 2_000, "IMAGES": 1_000}


def count_pages(documents: int) -> int:
    """Return how many pages that many documents have."""
    return sum(PAGES[at % len(PAGES)] for at in range(documents))


def count_files(documents: int) -> int:
    """Return how many files their volume has."""
    return 2 + 2 * documents + count_pages(documents)


def write_zip(path: Path, documents: int) -> None:
    """Write the volume as a zip."""
    randomness = random.Random(1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        made.writestr("DATA/VOL001.dat", "".join(_generate_dat(documents)))
        made.writestr("DATA/VOL001.opt", "".join(_generate_opt(documents)))
        for file in _list_paths(documents):
            made.writestr(file, randomness.randbytes(_SIZES[file.partition("/")[0]] // 2).hex())


def _list_documents(documents: int) -> Iterator[list[str]]:
    """Yield the numbers of the pages of each document."""
    number = 1
    for at in range(documents):
        pages = PAGES[at % len(PAGES)]
        yield [f"BEN{page:08}" for page in range(number, number + pages)]
        number += pages


def _build_path(folder: str, number: str, extension: str) -> str:
    return f"{folder}/{number[:-3]}/{number}.{extension}"


def _list_paths(documents: int) -> Iterator[str]:
    for pages in _list_documents(documents):
        yield _build_path("NATIVES", pages[0], "docx")
        yield _build_path("TEXT", pages[0], "txt")
        for page in pages:
            yield _build_path("IMAGES", page, "tif")


def _generate_dat(documents: int) -> Iterator[str]:
    yield _format_record(_HEADER)
    for pages in _list_documents(documents):
        links = (_build_path("NATIVES", pages[0], "docx"), _build_path("TEXT", pages[0], "txt"))
        yield _format_record((pages[0], pages[-1], f"Document {pages[0]}", *map(_format_link, links)))


def _generate_opt(documents: int) -> Iterator[str]:
    for pages in _list_documents(documents):
        for page in pages:
            begins = ("Y", str(len(pages))) if page == pages[0] else ("", "")
            yield f"{page},VOL001,{_format_link(_build_path('IMAGES', page, 'tif'))},{begins[0]},,,{begins[1]}\r\n"


def _format_record(cells: tuple[str, ...]) -> str:
    return "\x14".join(f"\xfe{cell}\xfe" for cell in cells) + "\r\n"


def _format_link(path: str) -> str:
    return "VOL001\\" + path.replace("/", "\\")
