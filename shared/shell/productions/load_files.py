"""Write the load files of a volume: the DAT, which the importer reads, and the OPT.

Guaranteed: the content depends only on the rows of the production and its exhibits, so writing it twice is harmless.
Memory holds the Bates numbers of all documents, and the data of one part of them.
Not guaranteed: columns that the request does not name. Tags are never included, other columns only by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.errors import ConflictError
from core.exhibit_dates import format_date
from core.productions.families import NO_FAMILY, Family, FamilyMember, find_families
from core.productions.volume import (
    BOM,
    DATE_COLUMNS,
    HEADER,
    VALUE_SEPARATOR,
    FileKind,
    build_file_path,
    build_load_file_path,
    build_volume_folder,
    choose_date_columns,
    format_dat_line,
    format_link,
    format_opt_line,
    get_property_values,
    has_newline_mark,
)
from shell.aws.s3 import write_stream
from shell.productions.documents import DocumentToProduce, iterate_documents
from shell.settings import settings
from shell.tables.productions import Productions

Start = tuple[int, int]


@dataclass
class _VolumeSummary:
    """What must be known of all documents before the first line is written.

    With `marks`, line breaks within cells are written as U+00AE, the character that readers of the format expect: no
    cell contains that character itself. `dates` are the fields of dates that a document has.
    """

    members: list[FamilyMember] = field(default_factory=list)
    images: int = 0
    marks: bool = True
    dates: set[str] = field(default_factory=set)


def write_load_files(production: Productions, start: Start) -> None:
    """Write the DAT, and the OPT if documents have images; `start` is the destination id and position of the first one.

    Raises ConflictError, to be retried, if an exhibit was changed meanwhile so that a reader would misread a cell.
    """
    volume, folder = production.volume, build_volume_folder(production.id, production.volume)
    bucket, summary = settings().bucket, _summarize(production, start)
    dat, opt = (folder + build_load_file_path(volume, extension) for extension in ("dat", "opt"))
    write_stream(bucket, dat, _generate_dat(production, start, summary), "text/plain")
    if summary.images:
        write_stream(bucket, opt, _generate_opt(production, start), "text/plain")


def _summarize(production: Productions, start: Start) -> _VolumeSummary:
    summary, names = _VolumeSummary(), json.loads(production.properties)
    for document in iterate_documents(production, start):
        exhibit, numbers = document.exhibit, (document.bates_begin, document.bates_end)
        summary.members.append(FamilyMember(exhibit.control_number, exhibit.parent_control_number, *numbers))
        summary.images += FileKind.IMAGE in document.files
        summary.dates |= {date for date in DATE_COLUMNS if getattr(exhibit, date) is not None}
        summary.marks = summary.marks and not has_newline_mark(_list_texts(document, names))
    return summary


def _generate_dat(production: Productions, start: Start, summary: _VolumeSummary) -> Iterator[bytes]:
    names, families = json.loads(production.properties), find_families(summary.members)
    dates = choose_date_columns(summary.dates, names)
    yield (BOM + format_dat_line((*HEADER, *dates.values(), *names), marks=summary.marks)).encode()
    for document in iterate_documents(production, start):
        family = families.get(document.exhibit.control_number, NO_FAMILY)
        cells = _list_cells(production, document, family, [*dates], names)
        if summary.marks and has_newline_mark(cells):
            raise ConflictError("an exhibit was changed while the load file of its production was written")
        yield format_dat_line(cells, marks=summary.marks).encode()


def _generate_opt(production: Productions, start: Start) -> Iterator[bytes]:
    for document in iterate_documents(production, start):
        if FileKind.IMAGE in document.files:
            path = build_file_path(FileKind.IMAGE, document.part, document.bates_begin, document.files[FileKind.IMAGE])
            yield format_opt_line(document.bates_begin, production.volume, path, document.pages).encode()


def _list_cells(
    production: Productions, document: DocumentToProduce, family: Family, dates: Sequence[str], names: Sequence[str]
) -> tuple[str, ...]:
    custodians, title, file_name, date, *properties = _list_texts(document, names)
    links = [_format_link(production, document, kind) for kind in (FileKind.NATIVE, FileKind.TEXT)]
    others = [_format_date(document, field) for field in dates]
    texts = (custodians, title, file_name, date, *links, *others)
    return (document.bates_begin, document.bates_end, *family, *texts, *properties)


def _list_texts(document: DocumentToProduce, names: Sequence[str]) -> list[str]:
    """Return the exhibit's texts in the order of the columns: custodians, title, file name, date, named properties."""
    exhibit = document.exhibit
    custodians = VALUE_SEPARATOR.join(document.custodians)
    return [
        *(custodians, exhibit.title or "", exhibit.file_name or "", _format_date(document, "document_date")),
        *get_property_values(document.properties, names),
    ]


def _format_date(document: DocumentToProduce, date: str) -> str:
    """Return a date as it is stored: a day, a time of an unknown zone, or a time in UTC, with its Z."""
    return format_date(getattr(document.exhibit, date), document.exhibit.date_precision, date)


def _format_link(production: Productions, document: DocumentToProduce, kind: FileKind) -> str:
    if kind not in document.files:
        return ""
    path = build_file_path(kind, document.part, document.bates_begin, document.files[kind])
    return format_link(production.volume, path)
