"""Read the documents of a production part by part, with the data of their exhibits.

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

    `part` counts from 0; `files` are the paths at the time of the reservation; `pages` is None unless the production
    numbers pages.
    """

    part: int
    exhibit: Exhibits
    first_number: int
    last_number: int
    bates_begin: str
    bates_end: str
    properties: Mapping[str, str | None]
    custodians: Sequence[str]
    files: Mapping[FileKind, str]
    pages: int | None


def count_parts(documents: int) -> int:
    """Return the number of parts of that many documents."""
    return -(-documents // PART_SIZE)


def iterate_documents(production: Productions, start: tuple[int, int]) -> Iterator[DocumentToProduce]:
    """Yield all documents of the production; `start` is the destination id and position of the first one."""
    for part in range(count_parts(production.documents or 0)):
        yield from list_part(production, start, part)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_part(production: Productions, start: tuple[int, int], part: int) -> list[DocumentToProduce]:
    """Return the documents of one part, counted from 0; `start` is as in `iterate_documents`."""
    destination_id, position = start
    begin, end = position + part * PART_SIZE, position + min((part + 1) * PART_SIZE, production.documents or 0)
    document = ProductionDocuments
    statement = select(document.first_number, document.last_number, document.files, Exhibits)
    statement = statement.join(Exhibits, Exhibits.id == document.exhibit_id).order_by(document.position)
    statement = statement.where(document.destination_id == destination_id, document.position >= begin)
    with session() as reading:
        rows = reading.execute(statement.where(document.position < end, document.production_id == production.id)).all()
        custodians = _list_custodians(reading, [row.Exhibits.id for row in rows])
    return [_build_document(production, part, row, custodians) for row in rows]


def _build_document(
    production: Productions, part: int, row: Any, custodians: Mapping[int, Sequence[str]]
) -> DocumentToProduce:
    exhibit, bates_format = row.Exhibits, BatesFormat(production.prefix, production.digits)
    by_page = production.numbering == Numbering.PAGE
    return DocumentToProduce(
        part,
        exhibit,
        row.first_number,
        row.last_number,
        bates_format.format_number(row.first_number),
        bates_format.format_number(row.last_number),
        parse_properties(exhibit.document_properties) if exhibit.document_properties else {},
        custodians.get(exhibit.id, ()),
        {FileKind(kind): path for kind, path in json.loads(row.files).items()},
        row.last_number - row.first_number + 1 if by_page else None,
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
