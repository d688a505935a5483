"""The documents of a production, part by part, with what their exhibits say of them.

Guaranteed: in the order of their places in the volume, which is that of their numbers; a part costs the same number of
statements whatever its size.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.bates import BatesFormat, Numbering
from core.volume import FileKind
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits
from shell.tables.names import Custodians
from shell.tables.numbering import ProductionDocuments
from shell.tables.productions import Productions
from shell.utils.db_helpers import among, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.document_properties import load

PART = 500


@dataclass(frozen=True)
class Produced:
    """A document of a production; `files` are the paths of when it was reserved, `pages` are there where they count."""

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
    """How many parts so many documents have."""
    return -(-documents // PART)


def produced(production: Productions, start: tuple[int, int]) -> Iterator[Produced]:
    """All documents of the production, whose first place is `start`, (destination, position)."""
    for part in range(count_parts(production.documents or 0)):
        yield from produced_part(production, start, part)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def produced_part(production: Productions, start: tuple[int, int], part: int) -> list[Produced]:
    """The documents of a part, from 0, of a production whose first place is `start`."""
    destination_id, position = start
    begin, end = position + part * PART, position + min((part + 1) * PART, production.documents or 0)
    document = ProductionDocuments
    wanted = select(document.first_number, document.last_number, document.files, Exhibits)
    wanted = wanted.join(Exhibits, Exhibits.id == document.exhibit_id).order_by(document.position)
    wanted = wanted.where(document.destination_id == destination_id, document.position >= begin)
    with session() as reading:
        rows = reading.execute(wanted.where(document.position < end, document.production_id == production.id)).all()
        held = _custodians(reading, [row.Exhibits.id for row in rows])
    return [_produced(production, part, row, held) for row in rows]


def _produced(production: Productions, part: int, row: Any, held: Mapping[int, Sequence[str]]) -> Produced:
    exhibit, form = row.Exhibits, BatesFormat(production.prefix, production.digits)
    by_page = production.numbering == Numbering.PAGE
    return Produced(
        part,
        exhibit,
        row.first_number,
        row.last_number,
        form.number(row.first_number),
        form.number(row.last_number),
        load(exhibit.document_properties) if exhibit.document_properties else {},
        held.get(exhibit.id, ()),
        {FileKind(kind): path for kind, path in json.loads(row.files).items()},
        row.last_number - row.first_number + 1 if by_page else None,
    )


def _custodians(reading: Session, exhibits: Sequence[int]) -> Mapping[int, Sequence[str]]:
    held: dict[int, list[str]] = defaultdict(list)
    if exhibits:
        wanted = select(CustodianExhibits.exhibit_id, Custodians.name)
        wanted = wanted.join(Custodians, Custodians.id == CustodianExhibits.custodian_id)
        for row in reading.execute(
            wanted.where(among(CustodianExhibits.exhibit_id, exhibits)).order_by(Custodians.name)
        ):
            held[row.exhibit_id].append(row.name)
    return held
