"""Decide which documents of a chunk get pages, against the case: for an import under the documents' locks.

Guaranteed: keys are compared byte for byte, with the column that was chosen for the whole file, so that no document is
named by two chunks; the order of the chunks does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy.orm import Session

from core.cells.keys import show_text
from core.codes import Rejection, WarningCode
from core.errors import ConflictError
from core.load_file.encoding import replace_surrogates
from core.load_file.rows import RowError, ValueChange
from core.load_mode import OverlayKey
from core.statuses import ImportPhase
from core.volumes.documents import describe_ambiguous, describe_has_pages, describe_replaced_pages
from shell.exhibits.updates import KeyedExhibit, find_by_key, has_key, lock_exhibits
from shell.imports.images.documents import ReadDocument, describe_same_document
from shell.imports.images.page_store import StoredPages, read_origins, read_page_sets
from shell.imports.images.reader import ImageChunk
from shell.utils.key_validation import is_storable

_CHANGED = "A document was changed or removed before its pages were imported."
_NAMES = {OverlayKey.CONTROL_NUMBER: "control number", OverlayKey.BATES_BEGIN: "begin Bates number"}


class Target(NamedTuple):
    """A document of the file and its exhibit; None in a check, for one that the import before it will create."""

    read: ReadDocument
    exhibit: KeyedExhibit | None


@dataclass
class ImageResults:
    """The documents of a chunk by their result in one attempt, or the reason why they are rejected.

    `replaced` are warnings of this result, by the line of the document: those of `ReadDocument` are of its lines alone.
    """

    imported: list[Target] = field(default_factory=list)
    updated: list[Target] = field(default_factory=list)
    unchanged: list[Target] = field(default_factory=list)
    rejected: list[tuple[ReadDocument, RowError]] = field(default_factory=list)
    replaced: dict[int, ValueChange] = field(default_factory=dict)

    def list_results(self) -> list[tuple[str, Target]]:
        """Return the documents that have the pages of the file now, in its order: imported, updated or unchanged."""
        by_result = {"imported": self.imported, "updated": self.updated, "unchanged": self.unchanged}
        accepted = [(result, target) for result, targets in by_result.items() for target in targets]
        return sorted(accepted, key=lambda each: each[1].read.document.line_no)

    def list_accepted(self) -> list[Target]:
        """Return the documents that have the pages of the file now, in its order."""
        return [target for _, target in self.list_results()]


def decide(transaction: Session, images: ImageChunk, *, locked: bool) -> ImageResults:
    """Return the result of every document; `locked`: lock their exhibits, in the order of their ids.

    Raises ConflictError if an exhibit is removed or gets another key before it is locked.
    """
    results = ImageResults()
    targets = _find_targets(transaction, images, results, locked=locked)
    ids = {each.exhibit.page_set_id for each in targets if each.exhibit and each.exhibit.page_set_id}
    stored = read_page_sets(transaction, ids)
    different: list[tuple[int, Target]] = []
    for target in targets:
        held = target.exhibit.page_set_id if target.exhibit else None
        new = StoredPages(target.read.content_hash, images.import_record.volume_id)
        if held is None:
            results.imported.append(target)
        elif stored.get(held) == new or held == target.read.same_as:
            results.unchanged.append(target)
        else:
            different.append((held, target))
    _add_different(transaction, images, results, different)
    return results


def _add_different(
    transaction: Session, images: ImageChunk, results: ImageResults, different: Sequence[tuple[int, Target]]
) -> None:
    """Add the documents that have other pages, by their page sets: replaced in an overlay, otherwise rejected."""
    is_overlay, after = images.layout.load_mode.is_overlay, images.import_record.after_import_id
    is_read = after is not None or not is_overlay
    origins = read_origins(transaction, {held for held, _ in different} if is_read else set())
    for held, target in different:
        origin, line_no = origins.get(held), target.read.document.line_no
        if not is_overlay:
            error = RowError(Rejection.HAS_PAGES, None, describe_has_pages(line_no, origin))
            results.rejected.append((target.read, error))
            continue
        results.updated.append(target)
        if origin and after is not None and origin.after_import_id == after:
            message = describe_replaced_pages(line_no, origin)
            results.replaced[line_no] = ValueChange(WarningCode.PAGES_REPLACED, None, message, None)


def _find_targets(transaction: Session, images: ImageChunk, results: ImageResults, *, locked: bool) -> Sequence[Target]:
    """Return the documents that have one exhibit; add the others to `results`."""
    key = OverlayKey(str(images.layout.image_key))
    results.rejected += [(read, read.error) for read in images.documents if read.error]
    sound = [read for read in images.documents if not read.error]
    keys = {read.document.key for read in sound if is_storable(read.document.key, "exhibits", key.value)}
    case_id, any_number = images.import_record.case_id, images.layout.any_number
    found = find_by_key(transaction, case_id, key, keys, any_number=any_number)
    targets: list[Target] = []
    lines: dict[int, int] = {}
    for read in sound:
        exhibits = found.get(read.document.key, [])
        if len(exhibits) == 1 and lines.setdefault(exhibits[0].id, read.document.line_no) == read.document.line_no:
            targets.append(Target(read, exhibits[0]))
        elif len(exhibits) == 1:
            # The split has looked for such keys in the whole file; the document got the number since.
            results.rejected.append((read, describe_same_document(lines[exhibits[0].id])))
        elif not exhibits and _is_created_before(images):
            targets.append(Target(read, None))
        else:
            results.rejected.append((read, _describe(key, exhibits, read.document.key)))
    return _lock(transaction, case_id, key, targets) if locked else targets


def _is_created_before(images: ImageChunk) -> bool:
    """Return whether documents that the case lacks are those of a load file that is only checked so far."""
    record = images.import_record
    return record.phase == ImportPhase.CHECK and record.after_import_id is not None


def _lock(transaction: Session, case_id: int, key: OverlayKey, targets: Sequence[Target]) -> Sequence[Target]:
    current = lock_exhibits(transaction, [each.exhibit.id for each in targets if each.exhibit])
    locked: list[Target] = []
    for read, exhibit in targets:
        now = current.get(exhibit.id) if exhibit else None
        if now is None:
            raise ConflictError(_CHANGED)
        locked.append(Target(read, now))
    keyed = {read.document.key: exhibit for read, exhibit in locked if exhibit}
    if not has_key(transaction, case_id, key, keyed):
        raise ConflictError(_CHANGED)
    return locked


def _describe(key: OverlayKey, exhibits: Sequence[KeyedExhibit], value: str) -> RowError:
    if not exhibits:
        message = f"The case has no document with the {_NAMES[key]} {show_text(value)}"
        advice = "Import its load file first, or correct the key."
        return RowError(Rejection.OPT_DOC_NOT_FOUND, "image key", f"{message}. {advice}")
    message = describe_ambiguous([exhibit.control_number for exhibit in exhibits], len(exhibits))
    return RowError(Rejection.AMBIGUOUS_KEY, "image key", message)


def describe_key(target: Target) -> str:
    """Return the control number of a document, or the image key of one that the case lacks."""
    return target.exhibit.control_number if target.exhibit else replace_surrogates(target.read.document.key)
