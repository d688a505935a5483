"""Which exhibits a production has: those that were named, or those of its case that match a query when it is made.

Guaranteed: in the byte order of their control numbers; none of another case. Read in parts, without locks: exhibits are
never removed, so that what was read is there when its numbers are given out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, select, text
from sqlalchemy.orm import Session

from core.bates import Numbering, page_count
from core.errors import InvalidInputError
from core.volume import FileKind, image_path
from shell.matching_ops import chosen, count_selected, refuse_count
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits
from shell.tables.productions import Productions
from shell.utils.db_helpers import among, forced
from shell.utils.document_properties import load

PAGE = 2_000
_NAMES = ("id", "control_number", "native_path", "text_path", "document_properties")
_COLUMNS: tuple[Any, ...] = tuple(getattr(Exhibits, name) for name in _NAMES)
_ODD_NAMES = text("SELECT id FROM custodians WHERE case_id = :case_id AND name LIKE '%;%'")


class Selected(NamedTuple):
    """An exhibit that is to be produced, how many numbers it takes, and the paths of its files, by kind."""

    exhibit_id: int
    numbers: int
    files: dict[FileKind, str]


def selected(reading: Session, production: Productions) -> list[Selected]:
    """The production's exhibits as they are now, with the numbers that each takes.

    Raises what `count_selected` raises; InvalidInputError for a page count that is no number, where pages count, and
    for a custodian whose name a load file's readers would take for two.
    """
    count_selected(reading, production.case_id, production.selection)
    by_page = production.numbering == Numbering.PAGE
    exhibits = [_selected(row, by_page) for row in _rows(reading, production.case_id, production.selection)]
    refuse_count(len(exhibits))
    _refuse_split_names(reading, production.case_id, {each.exhibit_id for each in exhibits})
    return exhibits


def _selected(row: Any, by_page: bool) -> Selected:
    properties = load(row.document_properties) if row.document_properties else {}
    paths = {
        FileKind.NATIVE: row.native_path,
        FileKind.IMAGE: image_path(properties),
        FileKind.TEXT: row.text_path,
    }
    files = {kind: path for kind, path in paths.items() if path and path.strip()}
    return Selected(row.id, page_count(row.id, properties) if by_page else 1, files)


def _refuse_split_names(reading: Session, case_id: int, exhibits: set[int]) -> None:
    """Names of a load file never hold what stands between two names; one that was asked for over the API may."""
    odd = reading.scalars(_ODD_NAMES, {"case_id": case_id}).all()
    if odd:
        links = select(CustodianExhibits.exhibit_id, CustodianExhibits.custodian_id)
        for row in reading.execute(links.where(among(CustodianExhibits.custodian_id, odd))):
            if row.exhibit_id in exhibits:
                raise InvalidInputError(
                    f"the name of custodian {row.custodian_id} holds a semicolon: a load file's readers would take it "
                    "for two names"
                )


def _rows(reading: Session, case_id: int, selection: str) -> Iterator[Any]:
    asked = json.loads(selection)
    wanted: Select[Any] = chosen(select(*_COLUMNS), case_id, asked).order_by(Exhibits.control_number).limit(PAGE)
    if "query" in asked:
        wanted = forced(wanted, Exhibits, "uq_exhibits_control_number")
    rows: Sequence[Any] = reading.execute(wanted).all()
    while rows:
        yield from rows
        rows = reading.execute(wanted.where(Exhibits.control_number > rows[-1].control_number)).all()
