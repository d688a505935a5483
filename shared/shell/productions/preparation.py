"""Prepare the documents of a production before numbers are reserved: files, pages, order, and what is wrong.

Guaranteed: pages are counted in the images, never taken from what an image load file declares. Families stand together,
each parent before its children. The check of a production and its reservation find the same: both call this module.
Nothing is locked: `lock_selected_exhibits` detects later changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sqlalchemy.orm import Session

from core.errors import ConflictError, InvalidInputError
from core.named_lists import format_ids
from core.productions.bates import Numbering
from core.productions.findings import FindingCode, GroupedFinding, group_findings
from core.productions.parts import MAX_OBJECTS
from core.productions.volume import FileKind
from shell.db.session import session
from shell.families.reading import has_statements
from shell.productions.family_members import Families, find_all_members
from shell.productions.missing_files import find_missing_files
from shell.productions.page_images import Counter, PlannedImages, count_files, plan_images
from shell.productions.selection import SelectedExhibit, list_selected_exhibits
from shell.tables.cases import Cases
from shell.tables.productions import Productions
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# About three minutes of requests to S3.
MAX_LOOKUPS = 100_000
NOTHING_TAKEN = "No Bates number was taken."


class PreparedDocuments(NamedTuple):
    """The documents in the order of the volume, and findings about them, as codes and ids.

    `selected` are the documents as they were read, with the parents of their own columns and without what was counted.
    `exhibits` have the parents of `families`. `uncounted` is the number of documents whose images were not counted, and
    which count as one page; `listed` is how many more pages their load files list. `unchecked` is the number of files
    that were not looked up in the bucket.
    """

    selected: list[SelectedExhibit]
    exhibits: list[SelectedExhibit]
    found: list[tuple[FindingCode, int]]
    uncounted: int
    listed: int
    unchecked: int
    families: Families

    @property
    def findings(self) -> list[GroupedFinding]:
        """The findings by code."""
        return group_findings(self.found)


def prepare_documents(
    production: Productions, count: Counter | None = None, lookups: int = MAX_LOOKUPS
) -> PreparedDocuments:
    """Return the documents and findings; `count` counts pages of files, by default in the bucket.

    So many `lookups` are made for files. Raises what selecting exhibits, counting pages and looking for files raise,
    and InvalidInputError for too many files.
    """
    case, selected, families = _read_selection(production)
    planned = PlannedImages({}, [], {})
    if production.numbering == Numbering.PAGE:
        sets = [each.page_set_id for each in selected if each.page_set_id]
        planned = plan_images(sets, count or partial(count_files, production.tenant_id, case))
    by_set = {each.page_set_id: each.exhibit_id for each in selected if each.page_set_id}
    found = [(code, by_set[page_set_id]) for code, page_set_id in planned.findings]
    found += _find_incomplete(selected, families)
    exhibits = [_add_images(_add_parent(each, families), planned) for each in selected]
    _check_objects(exhibits)
    missing = find_missing_files(production.tenant_id, case, exhibits, lookups)
    found += ((FindingCode.FILE_MISSING, each) for each in missing.exhibit_ids)
    ordered = sorted(exhibits, key=lambda each: families.places[each.control_number])
    listed = sum(planned.uncounted.values()) - len(planned.uncounted)
    return PreparedDocuments(selected, ordered, found, len(planned.uncounted), listed, missing.unchecked, families)


def refuse_blocking(findings: Sequence[GroupedFinding]) -> None:
    """Raise InvalidInputError if there are findings with which documents cannot be produced; it names all of them."""
    named = [
        f"{each.code} (exhibits {format_ids(each.exhibit_ids)}): {each.message}" for each in findings if each.blocks
    ]
    if named:
        raise InvalidInputError(" ".join((*named, NOTHING_TAKEN)))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_selection(production: Productions) -> tuple[str, list[SelectedExhibit], Families]:
    with session() as reading:
        case = reading.get_one(Cases, production.case_id).name
        selected = list_selected_exhibits(reading, production)
        return case, selected, find_families(reading, production, selected)


def find_families(reading: Session, production: Productions, selected: Sequence[SelectedExhibit]) -> Families:
    """Return the families of the selected documents as they are now."""
    numbers = {each.exhibit_id: each.control_number for each in selected}
    return find_all_members(reading, production.case_id, numbers)


def lock_families(transaction: Session, production: Productions, prepared: PreparedDocuments) -> None:
    """Compare the families with those that were prepared; the caller has locked the selected exhibits.

    Raises ConflictError, to be retried with another selection, if a document has another parent now, or a family other
    members: a row that states it was committed meanwhile.
    """
    # The columns of the exhibits alone were compared when these were locked.
    stated = prepared.families.stated or has_statements(transaction, production.case_id)
    if stated and find_families(transaction, production, prepared.selected) != prepared.families:
        raise ConflictError("A family was changed while its Bates numbers were being reserved.")


def _find_incomplete(selected: Sequence[SelectedExhibit], families: Families) -> list[tuple[FindingCode, int]]:
    return [
        (FindingCode.INCOMPLETE_FAMILY, each.exhibit_id)
        for each in selected
        if families.places[each.control_number].root in families.incomplete_roots
    ]


def _add_parent(exhibit: SelectedExhibit, families: Families) -> SelectedExhibit:
    parent = families.parents.get(exhibit.control_number)
    return exhibit if parent == exhibit.parent else replace(exhibit, parent=parent)


def _add_images(exhibit: SelectedExhibit, planned: PlannedImages) -> SelectedExhibit:
    """Return the exhibit with the pages and the image of its page set; one without a page set as it is."""
    images = planned.images.get(exhibit.page_set_id or 0)
    if images is None:
        return exhibit
    files = exhibit.files if images.stored is None else {**exhibit.files, FileKind.IMAGE: images.stored}
    return replace(exhibit, numbers=images.pages, page_count=images.pages, files=files)


def _check_objects(exhibits: Sequence[SelectedExhibit]) -> None:
    objects = sum(each.objects for each in exhibits)
    if objects > MAX_OBJECTS:
        raise InvalidInputError(f"{objects} files; a production has at most {MAX_OBJECTS}: narrow the query.")
