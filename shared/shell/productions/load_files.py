"""Write the load files of a volume: the DAT, which the importer reads, the OPT, and the manifest of all files.

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
    HASH_COLUMNS,
    HEADER,
    PAGE_COUNT,
    TEXT_COLUMNS,
    VALUE_SEPARATOR,
    FileKind,
    build_file_path,
    build_load_file_path,
    choose_columns,
    choose_date_columns,
    choose_headings,
    find_text,
    format_dat_line,
    format_link,
    format_opt_line,
    get_property_values,
    has_newline_mark,
    is_doubtful,
)
from shell.productions.documents import DocumentToProduce, iterate_documents, list_part, list_part_starts
from shell.productions.images import list_images
from shell.productions.manifest import write_listed, write_manifest
from shell.tables.productions import Productions

Start = tuple[int, int]


@dataclass
class _VolumeSummary:
    """What must be known of all documents before the first line is written.

    With `marks`, line breaks within cells are written as U+00AE, the character that readers of the format expect: no
    cell contains that character itself. `dates` and `texts` are the fields that a document has, `hashes` the kinds of
    hashes that a native has; `counts` says whether a document has counted pages.
    """

    members: list[FamilyMember] = field(default_factory=list)
    has_images: bool = False
    marks: bool = True
    dates: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    hashes: set[str] = field(default_factory=set)
    counts: bool = False


@dataclass(frozen=True)
class _Columns:
    """The columns that this volume has beside those of every volume: dates, page count, hashes, requested ones."""

    dates: dict[str, str]
    page_count: bool
    hashes: dict[str, str]
    names: list[str]

    @property
    def header(self) -> tuple[str, ...]:
        counts = (PAGE_COUNT,) if self.page_count else ()
        return (*HEADER, *self.dates.values(), *counts, *self.hashes.values(), *self.names)


def write_load_files(production: Productions, start: Start) -> bytes:
    """Write DAT and manifest, and the OPT if documents have images; return the SHA-256 of the manifest.

    `start` is the destination id and position of the first document. Raises StorageUnavailableError, and ConflictError,
    to be retried, if an exhibit was changed meanwhile so that a reader would misread a cell.
    """
    summary = _summarize(production, start)
    dat, opt = (build_load_file_path(production.volume, extension) for extension in ("dat", "opt"))
    lines = [write_listed(production, dat, _generate_dat(production, start, summary))]
    if summary.has_images:
        lines.append(write_listed(production, opt, _generate_opt(production, start)))
    return write_manifest(production, len(list_part_starts(production)), lines)


def _summarize(production: Productions, start: Start) -> _VolumeSummary:
    summary, names = _VolumeSummary(), json.loads(production.properties)
    for document in iterate_documents(production, start):
        exhibit, numbers = document.exhibit, (document.bates_begin, document.bates_end)
        summary.members.append(FamilyMember(exhibit.control_number, document.parent, *numbers))
        summary.has_images = summary.has_images or document.has_images
        summary.dates |= {date for date in DATE_COLUMNS if getattr(exhibit, date) is not None}
        summary.texts |= {text for text in TEXT_COLUMNS if getattr(exhibit, text) is not None}
        summary.hashes |= {kind for kind in HASH_COLUMNS if _format_hash(document, kind)}
        summary.counts = summary.counts or document.page_count is not None
        summary.marks = summary.marks and not has_newline_mark(_list_texts(document, [*names, *TEXT_COLUMNS.values()]))
    return summary


def _choose_columns(production: Productions, summary: _VolumeSummary) -> _Columns:
    """Return the columns of the volume; a requested column of the original load file takes the place of one of ours."""
    names: list[str] = json.loads(production.properties)
    counts = choose_columns({PAGE_COUNT} if summary.counts else (), {PAGE_COUNT: PAGE_COUNT}, names)
    hashes = choose_columns(summary.hashes, HASH_COLUMNS, names)
    names = [*choose_headings(summary.texts, names), *names]
    return _Columns(choose_date_columns(summary.dates, names), bool(counts), hashes, names)


def _generate_dat(production: Productions, start: Start, summary: _VolumeSummary) -> Iterator[bytes]:
    columns, families = _choose_columns(production, summary), find_families(summary.members)
    yield (BOM + format_dat_line(columns.header, marks=summary.marks)).encode()
    for document in iterate_documents(production, start):
        family = families.get(document.exhibit.control_number, NO_FAMILY)
        cells = _list_cells(production, document, family, columns)
        if summary.marks and has_newline_mark(cells):
            raise ConflictError("An exhibit was changed while the load file of its production was written.")
        yield format_dat_line(cells, marks=summary.marks).encode()


def _generate_opt(production: Productions, start: Start) -> Iterator[bytes]:
    for part in range(len(list_part_starts(production))):
        documents = list_part(production, start, part)
        images = list_images(documents)
        for document in documents:
            for image in images.get(document.exhibit.id, ()):
                line = format_opt_line(
                    image.bates, production.volume, image.path, begins=image.begins, pages=image.pages
                )
                yield line.encode()


def _list_cells(
    production: Productions, document: DocumentToProduce, family: Family, columns: _Columns
) -> tuple[str, ...]:
    custodians, title, file_name, date, *properties = _list_texts(document, columns.names)
    links = [_format_link(production, document, kind) for kind in (FileKind.NATIVE, FileKind.TEXT)]
    others = [_format_date(document, field) for field in columns.dates]
    counts = ["" if document.page_count is None else str(document.page_count)] if columns.page_count else []
    hashes = [_format_hash(document, kind) for kind in columns.hashes]
    texts = (custodians, title, file_name, date, *links, *others, *counts, *hashes)
    return (document.bates_begin, document.bates_end, *family, *texts, *properties)


def _format_hash(document: DocumentToProduce, kind: str) -> str:
    """Return a hash of the document's native, blank if it is not known."""
    native = document.files.get(FileKind.NATIVE)
    digest: bytes | None = getattr(native, kind) if native else None
    return digest.hex() if digest else ""


def _list_texts(document: DocumentToProduce, names: Sequence[str]) -> list[str]:
    """Return the exhibit's texts in the order of the columns: custodians, title, file name, date, named columns.

    A name that means a text is that text; of a document that an earlier version imported, the property of this name. A
    doubtful name is the property, if there is one.
    """
    exhibit = document.exhibit
    properties = zip(names, get_property_values(document.properties, names), strict=True)
    custodians = VALUE_SEPARATOR.join(document.custodians)
    return [
        *(custodians, exhibit.title or "", exhibit.file_name or "", _format_date(document, "document_date")),
        *((is_doubtful(name) and value) or _read_text(document, name) or value for name, value in properties),
    ]


def _read_text(document: DocumentToProduce, name: str) -> str | None:
    text = find_text(name)
    return getattr(document.exhibit, text) if text else None


def _format_date(document: DocumentToProduce, date: str) -> str:
    """Return a date as it is stored: a day, a time of an unknown zone, or a time in UTC, with its Z."""
    return format_date(getattr(document.exhibit, date), document.exhibit.date_precision, date)


def _format_link(production: Productions, document: DocumentToProduce, kind: FileKind) -> str:
    if kind not in document.files:
        return ""
    path = build_file_path(kind, document.part, document.bates_begin, document.files[kind].path)
    return format_link(production.volume, path)
