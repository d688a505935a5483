"""A volume's load files: the DAT, which the importer reads, and the OPT.

Guaranteed: they depend on the production's rows and its exhibits alone, so that writing them twice is harmless; of all
documents only their numbers are held at once.
Not guaranteed: more than was asked for. Tags are never handed over, other columns only by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.errors import ConflictError
from core.families import ALONE, Family, Member, families
from core.volume import (
    BOM,
    HEADER,
    SEVERAL,
    FileKind,
    as_link,
    dat_line,
    file_path,
    is_ambiguous,
    load_file_path,
    opt_line,
    values_of,
    volume_folder,
)
from shell.produced_ops import Produced, produced
from shell.settings import settings
from shell.tables.productions import Productions
from shell.utils.object_store import write_stream

Start = tuple[int, int]


@dataclass
class _Overview:
    """What has to be known of all documents before the first line is written.

    `marks`: line breaks are written as the sign that readers expect, for no cell holds that sign itself.
    """

    members: list[Member] = field(default_factory=list)
    images: int = 0
    marks: bool = True


def write_load_files(production: Productions, start: Start) -> dict[str, int]:
    """Write the DAT, and the OPT if there are images; returns how many documents and images they list.

    Raises ConflictError, to be done again, where an exhibit was changed meanwhile so that a cell could be misread.
    """
    volume, folder = production.volume, volume_folder(production.id, production.volume)
    overview, bucket = _overview(production, start), settings().bucket
    write_stream(bucket, folder + load_file_path(volume, "dat"), _dat(production, start, overview), "text/plain")
    if overview.images:
        write_stream(bucket, folder + load_file_path(volume, "opt"), _opt(production, start), "text/plain")
    return {"documents": len(overview.members), "images": overview.images}


def _overview(production: Productions, start: Start) -> _Overview:
    overview, names = _Overview(), json.loads(production.properties)
    for document in produced(production, start):
        exhibit = document.exhibit
        parent = exhibit.parent_control_number
        overview.members.append(Member(exhibit.control_number, parent, document.bates_begin, document.bates_end))
        overview.images += FileKind.IMAGE in document.files
        overview.marks = overview.marks and not is_ambiguous(_texts(document, names))
    return overview


def _dat(production: Productions, start: Start, overview: _Overview) -> Iterator[bytes]:
    names, known = json.loads(production.properties), families(overview.members)
    yield (BOM + dat_line((*HEADER, *names), marks=overview.marks)).encode()
    for document in produced(production, start):
        family = known.get(document.exhibit.control_number, ALONE)
        cells = _cells(production, document, family, names)
        if overview.marks and is_ambiguous(cells):
            raise ConflictError("an exhibit was changed while its production's load file was written")
        yield dat_line(cells, marks=overview.marks).encode()


def _opt(production: Productions, start: Start) -> Iterator[bytes]:
    for document in produced(production, start):
        if FileKind.IMAGE in document.files:
            path = file_path(FileKind.IMAGE, document.part, document.bates_begin, document.files[FileKind.IMAGE])
            yield opt_line(document.bates_begin, production.volume, path, document.pages).encode()


def _cells(production: Productions, document: Produced, family: Family, names: Sequence[str]) -> tuple[str, ...]:
    custodians, title, file_name, date, *properties = _texts(document, names)
    links = [_link(production, document, kind) for kind in (FileKind.NATIVE, FileKind.TEXT)]
    return (document.bates_begin, document.bates_end, *family, custodians, title, file_name, date, *links, *properties)


def _texts(document: Produced, names: Sequence[str]) -> list[str]:
    """What the exhibit says, in the order of the columns: custodians, title, file name, date, the named properties."""
    exhibit = document.exhibit
    # Without an offset, as it is stored: which it is the source did not say.
    date = exhibit.document_date.isoformat() if exhibit.document_date else ""
    said = (SEVERAL.join(document.custodians), exhibit.title or "", exhibit.file_name or "", date)
    return [*said, *values_of(document.properties, names)]


def _link(production: Productions, document: Produced, kind: FileKind) -> str:
    if kind not in document.files:
        return ""
    return as_link(production.volume, file_path(kind, document.part, document.bates_begin, document.files[kind]))
