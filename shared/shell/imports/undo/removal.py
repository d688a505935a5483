"""Remove the documents that an import created, unless something that counts has happened to them since.

Guaranteed: whether a document is removed is decided under its lock. It is removed with its links; its history and a
tombstone remain. A document that users or imports that count have changed, that has an attachment which stays, or that
has Bates numbers, stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.codes import KeptCode
from core.errors import ConflictError
from core.exhibit_history import Entry
from core.imports.undo import Kept, find_reason_to_stay
from shell.db.bulk_insert import insert_new
from shell.db.errors import error_number
from shell.exhibits.updates import KeyedExhibit
from shell.families.store import delete_of_exhibits
from shell.imports.undo.context import CreatedDocument, PartResult, UndoContext
from shell.imports.undo.families import find_staying_children
from shell.imports.undo.histories import read_histories
from shell.imports.undo.pages import delete_pages
from shell.imports.undo.store import delete_rows, find_productions
from shell.tables.name_kinds import NAME_KINDS

STILL_REFERENCED = 1451
_TOMBSTONE = ("exhibit_id", "case_id", "control_number", "version", "import_id", "line_no", "undo_no")


def remove_documents(
    transaction: Session, context: UndoContext, created: Sequence[CreatedDocument], result: PartResult
) -> None:
    """Remove those of the import's documents that nothing keeps; the caller has locked them."""
    reasons = find_reasons(transaction, context, [each.exhibit for each in created])
    children = find_staying_children(transaction, context, created, reasons.keys(), find_reasons)
    gone: list[CreatedDocument] = []
    for each in created:
        exhibit = each.exhibit
        if exhibit.id in reasons:
            result.keep(exhibit, each.line_no, reasons[exhibit.id])
        elif exhibit.id in children:
            result.keep(exhibit, each.line_no, [Kept(KeptCode.HAS_CHILDREN, child=children[exhibit.id])])
        else:
            gone.append(each)
    _delete(transaction, context, gone)
    result.removed += [each.exhibit.id for each in gone]


def find_reasons(reading: Session, context: UndoContext, created: Collection[KeyedExhibit]) -> dict[int, list[Kept]]:
    """Return why documents of the import stay, by id, as far as their histories and Bates numbers say."""
    reasons: dict[int, list[Kept]] = {}
    # Version 1: nothing was written to it since.
    changed = {each.id: each.version for each in created if each.version > 1}
    for histories in read_histories(reading, sorted(changed)):
        for exhibit_id, entries in histories.items():
            reason = _judge_history(context, entries, changed[exhibit_id])
            if reason:
                reasons.setdefault(exhibit_id, []).append(reason)
    # After the exhibits are locked: a production locks them, too, before it reserves numbers.
    for exhibit_id, production in find_productions(reading, [each.id for each in created]).items():
        reasons.setdefault(exhibit_id, []).append(Kept(KeptCode.IN_PRODUCTION, production=production))
    return reasons


def _judge_history(context: UndoContext, entries: Sequence[Entry], version: int) -> Kept | None:
    if version != 1 + len(entries):
        # A writer left no entry: what it changed cannot be known.
        return Kept(KeptCode.CHANGED_SINCE)
    return find_reason_to_stay(entries, context.is_live)


def _delete(transaction: Session, context: UndoContext, gone: Sequence[CreatedDocument]) -> None:
    """Delete the documents with what belongs to them, in a fixed order of tables."""
    ids = sorted(each.exhibit.id for each in gone)
    changed = sorted(each.exhibit.id for each in gone if each.exhibit.version > 1)
    for histories in read_histories(transaction, changed):
        delete_pages(transaction, (entry for entries in histories.values() for entry in entries))
    for table in (*(kind.link_table for kind in NAME_KINDS), "exhibit_files", "production_numbers"):
        delete_rows(transaction, table, "exhibit_id", ids)
    delete_of_exhibits(transaction, ids)
    try:
        delete_rows(transaction, "exhibits", "id", ids)
    except IntegrityError as error:
        if error_number(error) == STILL_REFERENCED:
            raise ConflictError("A document was linked while it was being removed.") from error
        raise
    case_id, import_id, undo_no = context.import_record.case_id, context.import_record.id, context.undo.undo_no
    tombstones = [
        (each.id, case_id, each.control_number, each.version, import_id, line_no, undo_no) for each, line_no, _ in gone
    ]
    insert_new(transaction, "exhibit_tombstones", _TOMBSTONE, tombstones)
