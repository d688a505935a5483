"""Read the documents of a production part by part, with the data of their exhibits and files.

Guaranteed: documents come in the order of their positions in the volume, which is the order of their numbers; the
number of statements for a part does not depend on its size.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.productions.bates import BatesFormat, Numbering
from core.productions.volume import FileKind
from shell.db.session import session
from shell.productions.sources import SourceFile, build_source, list_stored_files, parse_stored_files
from shell.tables.bates import ProductionDocuments
from shell.tables.custodians_tags import Custodians
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits
from shell.tables.productions import Productions
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.document_properties import parse_properties

PART_SIZE = 500


@dataclass(frozen=True)
class DocumentToProduce:
    """A document of a production.

    `part` counts from 0; `files` are those that were meant when the numbers were reserved. `pages` is None unless the
    production numbers pages, `page_count` unless the pages were counted. A document with a page set and without an
    image among its files has a file for each page. `parent` is the control number of the parent at that time.
    """

    part: int
    exhibit: Exhibits
    first_number: int
    bates_format: BatesFormat
    bates_begin: str
    bates_end: str
    properties: Mapping[str, str | None]
    custodians: Sequence[str]
    files: Mapping[FileKind, SourceFile]
    pages: int | None
    page_set_id: int | None
    page_count: int | None
    has_slip_sheet: bool
    parent: str | None

    @property
    def has_images(self) -> bool:
        """Whether the OPT has lines for the document."""
        return FileKind.IMAGE in self.files or self.page_set_id is not None or self.has_slip_sheet


def list_part_starts(production: Productions) -> list[int]:
    """Return the index of the first document of each part, counted from 0."""
    if production.parts is None:
        return list(range(0, production.documents or 0, PART_SIZE))
    return list(json.loads(production.parts))


def iterate_documents(production: Productions, start: tuple[int, int]) -> Iterator[DocumentToProduce]:
    """Yield all documents of the production; `start` is the destination id and position of the first one."""
    for part in range(len(list_part_starts(production))):
        yield from list_part(production, start, part)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_part(production: Productions, start: tuple[int, int], part: int) -> list[DocumentToProduce]:
    """Return the documents of one part, counted from 0; `start` is as in `iterate_documents`."""
    destination_id, position = start
    bounds = [*list_part_starts(production), production.documents or 0]
    begin, end = position + bounds[part], position + bounds[part + 1]
    document = ProductionDocuments
    statement = select(document, Exhibits)
    statement = statement.join(Exhibits, Exhibits.id == document.exhibit_id).order_by(document.position)
    statement = statement.where(document.destination_id == destination_id, document.position >= begin)
    with session() as reading:
        rows = reading.execute(statement.where(document.position < end, document.production_id == production.id)).all()
        custodians = _list_custodians(reading, [row.Exhibits.id for row in rows])
        stored = [parse_stored_files(row.ProductionDocuments.files) for row in rows]
        known = list_stored_files(reading, (file for files in stored for file in files.values()))
    files = [{kind: build_source(file, known) for kind, file in each.items()} for each in stored]
    return [
        _build_document(production, part, row, custodians.get(row.Exhibits.id, ()), each)
        for row, each in zip(rows, files, strict=True)
    ]


def _build_document(
    production: Productions, part: int, row: Any, custodians: Sequence[str], files: Mapping[FileKind, SourceFile]
) -> DocumentToProduce:
    exhibit, numbers = row.Exhibits, row.ProductionDocuments
    parent = numbers.parent_control_number
    bates_format = BatesFormat(production.prefix, production.digits)
    has_images = numbers.page_set_id is not None or FileKind.IMAGE in files
    return DocumentToProduce(
        part,
        exhibit,
        numbers.first_number,
        bates_format,
        bates_format.format_number(numbers.first_number),
        bates_format.format_number(numbers.last_number),
        parse_properties(exhibit.document_properties) if exhibit.document_properties else {},
        custodians,
        files,
        numbers.last_number - numbers.first_number + 1 if production.numbering == Numbering.PAGE else None,
        numbers.page_set_id,
        numbers.page_count,
        has_slip_sheet=bool(production.slip_sheets) and not has_images,
        parent=exhibit.parent_control_number if parent is None else parent or None,
    )


def _list_custodians(reading: Session, exhibit_ids: Sequence[int]) -> Mapping[int, Sequence[str]]:
    """Return the names of the custodians by exhibit id, each list in the order of the names."""
    names: dict[int, list[str]] = defaultdict(list)
    if exhibit_ids:
        statement = select(CustodianExhibits.exhibit_id, Custodians.name)
        statement = statement.join(Custodians, Custodians.id == CustodianExhibits.custodian_id)
        statement = statement.where(is_in(CustodianExhibits.exhibit_id, exhibit_ids)).order_by(Custodians.name)
        for row in reading.execute(statement):
            names[row.exhibit_id].append(row.name)
    return names
