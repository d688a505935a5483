"""Select the exhibits of a production: those with given ids, or those of its case that match a query, or families.

Guaranteed: the exhibits come in the byte order of their control numbers, and all belong to the production's case. They
are read in pages without locks; `lock_selected_exhibits` then locks them until their numbers are committed, because
undoing an import removes exhibits without numbers. A production has at least one exhibit and at most as many as a
volume may contain.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, func, select, text
from sqlalchemy.orm import Session

from core.contracts.stored_filters import unpack_filters
from core.errors import ConflictError, InvalidInputError, NothingToProduceError
from core.productions.bates import Numbering, parse_page_count
from core.productions.volume import MAX_DOCUMENTS, FileKind, find_image_path
from shell.exhibits.filters import build_exhibit_filters, exhibits_not_found
from shell.productions.family_members import find_all_members
from shell.productions.sources import FILE, TEXT, list_linked_files
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits
from shell.tables.productions import Productions
from shell.utils.db_helpers import force_index, is_in
from shell.utils.document_properties import parse_properties

if TYPE_CHECKING:
    from shell.exhibits.matches import Matches

PAGE_SIZE = 2_000
# The filters that every release knows.
LINK_FILTERS = frozenset({"custodian", "tag"})
# Of a stored selection: another one, of which whole families are selected. Earlier releases fail with it.
WITH_FAMILIES = "with_families"
_NAMES = (
    *("id", "control_number", "parent_control_number", "native_path", "text_path", "document_properties"),
    *("page_set_id", "text_id"),
)
_COLUMNS: tuple[Any, ...] = tuple(getattr(Exhibits, name) for name in _NAMES)
_AMBIGUOUS_NAMES = text("SELECT id FROM custodians WHERE case_id = :case_id AND name LIKE '%;%'")


@dataclass(frozen=True)
class SelectedExhibit:
    """An exhibit to be produced, how many numbers it needs, and its files by kind, as they are stored with the numbers.

    `page_set_id` is None unless pages are numbered; `has_pages` says whether there is one. `page_count` is None until
    the pages are counted, and for an exhibit whose images are not pages of a page set.
    """

    exhibit_id: int
    control_number: str
    parent: str | None
    numbers: int
    files: dict[FileKind, Any]
    page_set_id: int | None = None
    page_count: int | None = None
    has_pages: bool = False

    @property
    def objects(self) -> int:
        """The number of its files in the volume."""
        return len(self.files) + (self.page_count or 0 if FileKind.IMAGE not in self.files else 0)


def count_selected(reading: Session, case_id: int, selection: str) -> int:
    """Return how many exhibits of the case a stored selection matches now.

    Raises NotFoundError for ids that the case does not have, NothingToProduceError if nothing matches, and
    InvalidInputError for more than 100,000 exhibits.
    """
    criteria = json.loads(selection)
    if WITH_FAMILIES in criteria:
        count = len(_list_members(reading, case_id, criteria[WITH_FAMILIES]))
        check_count(count)
        return count
    if "ids" in criteria:
        ids: list[int] = criteria["ids"]
        found = set(reading.scalars(_narrow(select(Exhibits.id), case_id, criteria)))
        if missing := [each for each in ids if each not in found]:
            raise exhibits_not_found(missing)
        return len(ids)
    if "filters" in criteria:
        count = _count_matches(reading, case_id, unpack_filters(criteria["filters"]))
    else:
        counting = _narrow(select(func.count(Exhibits.id)), case_id, criteria)
        count = int(reading.execute(counting).scalar_one())
    check_count(count)
    return count


def check_count(count: int) -> None:
    """Raise NothingToProduceError for 0 exhibits, InvalidInputError for more than a production can have."""
    if not count:
        raise NothingToProduceError()
    if count > MAX_DOCUMENTS:
        raise InvalidInputError(f"{count} exhibits match; a production has at most {MAX_DOCUMENTS}: narrow the query.")


def _narrow(statement: Select[Any], case_id: int, criteria: dict[str, Any]) -> Select[Any]:
    """Return the SELECT, narrowed to the exhibits of the case with the selected ids or properties."""
    statement = statement.where(Exhibits.case_id == case_id)
    if "ids" in criteria:
        return statement.where(is_in(Exhibits.id, criteria["ids"]))
    query = criteria["query"]
    return statement.where(*build_exhibit_filters(case_id, query["custodian"], query["tag"], None))


def _find_matches(reading: Session, case_id: int, filters: Mapping[str, Any]) -> Matches | None:
    """Return how the exhibits are found that `GET /exhibits` lists by the same filters."""
    # Few productions need the models of the API, and loading them takes a tenth of a cold start.
    from core.contracts.exhibit_queries import ExhibitQuery
    from shell.exhibits.matches import find_matches

    # The case is known by its id.
    return find_matches(reading, case_id, ExhibitQuery.model_validate({"caseId": case_id, **filters}))


def list_selected_exhibits(reading: Session, production: Productions) -> list[SelectedExhibit]:
    """Return the production's exhibits as they are now; pages of page sets are not counted yet.

    Raises what `count_selected` raises; InvalidInputError for a page count that is not a number, if pages are numbered,
    and for a custodian whose name the readers of a load file would split into two; and ConflictError, to be retried, if
    an exhibit that was selected by its id is removed meanwhile.
    """
    count = count_selected(reading, production.case_id, production.selection)
    exhibits: list[SelectedExhibit] = []
    for rows in _iterate_pages(reading, production.case_id, production.selection):
        links = list_linked_files(reading, rows)
        exhibits += [_build_selected(row, links, production) for row in rows]
    check_count(len(exhibits))
    if "ids" in json.loads(production.selection) and len(exhibits) < count:
        raise ConflictError("An exhibit was removed while the production's documents were being read.")
    _check_custodian_names(reading, production.case_id, {each.exhibit_id for each in exhibits})
    return exhibits


def lock_selected_exhibits(transaction: Session, production: Productions, selected: Sequence[SelectedExhibit]) -> None:
    """Lock the exhibits in shared mode, in the order of their ids: two statements for each page.

    Raises ConflictError, to be retried with another selection, if one was removed since `list_selected_exhibits`
    returned it, or if its pages, files, parent or stated page count are others now.
    """
    before = {each.exhibit_id: each for each in selected}
    ids = sorted(before)
    for start in range(0, len(ids), PAGE_SIZE):
        page = ids[start : start + PAGE_SIZE]
        locking = select(*_COLUMNS).where(is_in(Exhibits.id, page)).order_by(Exhibits.id)
        locking = force_index(locking.with_for_update(read=True), Exhibits, "PRIMARY")
        rows = transaction.execute(locking).all()
        if len(rows) < len(page):
            raise ConflictError("An exhibit was removed while its Bates numbers were being reserved.")
        links = list_linked_files(transaction, rows)
        if any(_build_selected(row, links, production) != before[row.id] for row in rows):
            raise ConflictError("An exhibit was changed while its Bates numbers were being reserved.")


def _build_selected(row: Any, links: Mapping[tuple[int, FileKind], int], production: Productions) -> SelectedExhibit:
    by_page = production.numbering == Numbering.PAGE
    properties = parse_properties(row.document_properties) if row.document_properties else {}
    page_set_id = row.page_set_id if by_page else None
    image = None if page_set_id else find_image_path(properties)
    paths = {FileKind.NATIVE: row.native_path, FileKind.IMAGE: image, FileKind.TEXT: row.text_path}
    present = {kind: path for kind, path in paths.items() if path and path.strip()}
    files = {kind: {FILE: links[row.id, kind]} if (row.id, kind) in links else path for kind, path in present.items()}
    if FileKind.TEXT not in files and row.text_id is not None:
        files[FileKind.TEXT] = {TEXT: row.text_id}
    exhibit = SelectedExhibit(
        row.id,
        row.control_number,
        row.parent_control_number,
        1,
        files,
        page_set_id,
        has_pages=row.page_set_id is not None,
    )
    if production.slip_sheets and not page_set_id and not image:
        return replace(exhibit, page_count=1)
    is_stated = by_page and not page_set_id
    return replace(exhibit, numbers=parse_page_count(row.id, properties)) if is_stated else exhibit


def _check_custodian_names(reading: Session, case_id: int, exhibit_ids: set[int]) -> None:
    """Raise InvalidInputError for a custodian of these exhibits whose name contains the separator between names.

    Names from a load file never contain it; names that were added through the API may.
    """
    ambiguous = reading.scalars(_AMBIGUOUS_NAMES, {"case_id": case_id}).all()
    if ambiguous:
        links = select(CustodianExhibits.exhibit_id, CustodianExhibits.custodian_id)
        for row in reading.execute(links.where(is_in(CustodianExhibits.custodian_id, ambiguous))):
            if row.exhibit_id in exhibit_ids:
                raise InvalidInputError(
                    f"The name of custodian {row.custodian_id} contains a semicolon: readers of the load file would "
                    "split it into two names."
                )


def _iterate_pages(reading: Session, case_id: int, selection: str) -> Iterator[Sequence[Any]]:
    criteria = json.loads(selection)
    if WITH_FAMILIES in criteria:
        yield from _iterate_members(reading, case_id, _list_members(reading, case_id, criteria[WITH_FAMILIES]))
        return
    if "filters" in criteria:
        yield from _iterate_matches(reading, case_id, unpack_filters(criteria["filters"]))
        return
    page: Select[Any] = _narrow(select(*_COLUMNS), case_id, criteria)
    page = page.order_by(Exhibits.control_number).limit(PAGE_SIZE)
    if "ids" not in criteria:
        page = force_index(page, Exhibits, "uq_exhibits_control_number")
    rows: Sequence[Any] = reading.execute(page).all()
    while rows:
        yield rows
        rows = reading.execute(page.where(Exhibits.control_number > rows[-1].control_number)).all()


def _list_members(reading: Session, case_id: int, criteria: Mapping[str, Any]) -> list[str]:
    """Return the control numbers of the exhibits that the criteria select, and of their families, in byte order.

    Raises what `count_selected` raises.
    """
    selection = json.dumps(criteria)
    count_selected(reading, case_id, selection)
    selected = {row.id: row.control_number for rows in _iterate_pages(reading, case_id, selection) for row in rows}
    return sorted(find_all_members(reading, case_id, selected).places) if selected else []


def _iterate_members(reading: Session, case_id: int, control_numbers: Sequence[str]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(control_numbers), PAGE_SIZE):
        page = control_numbers[start : start + PAGE_SIZE]
        rows = select(*_COLUMNS).where(Exhibits.case_id == case_id, is_in(Exhibits.control_number, page))
        yield reading.execute(rows.order_by(Exhibits.control_number)).all()


def _count_matches(reading: Session, case_id: int, filters: Mapping[str, Any]) -> int:
    """Return how many exhibits match the filters; counting ends above the most that a production can have."""
    from shell.exhibits.match_keys import count_all

    matches = _find_matches(reading, case_id, filters)
    return count_all(reading, matches, MAX_DOCUMENTS + 1) if matches else 0


def _iterate_matches(reading: Session, case_id: int, filters: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    from shell.exhibits.match_keys import Start, iterate_keys

    matches = _find_matches(reading, case_id, filters)
    for keys in iterate_keys(reading, matches, Start(None), PAGE_SIZE) if matches else ():
        page = select(*_COLUMNS).where(is_in(Exhibits.id, [each.id for each in keys]))
        yield reading.execute(page.order_by(Exhibits.control_number)).all()
