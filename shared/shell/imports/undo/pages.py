"""What an undo does to pages: documents get their earlier ones again, and those of the import go.

Guaranteed: a page set stays while a document has it, a production with numbers that are not void has it, or an import
that is not undone has set it: another undo can need it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.exhibit_history import PAGE_SET, Entry, Key, Kind
from core.statuses import DocumentStatus, ImportStatus
from shell.imports.undo.store import delete_rows
from shell.tables.bates import ProductionDocuments
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import is_in

_KEY = Key(Kind.FIELD, PAGE_SET)
_UNDONE = (ImportStatus.UNDONE, ImportStatus.UNDONE_WITH_CONFLICTS)
# The caller has raised the versions, with the other values.
_RESTORE = text("""
    UPDATE JSON_TABLE(:pairs, '$[*]' COLUMNS (id BIGINT PATH '$[0]', pages BIGINT PATH '$[1]')) AS changed
    STRAIGHT_JOIN exhibits AS exhibit FORCE INDEX (PRIMARY) ON exhibit.id = changed.id
    SET exhibit.page_set_id = changed.pages
""")
# Its documents can have pages of an import that failed or was cancelled, too.
_LIVE_IMAGES = text(
    "SELECT i.id, i.status FROM imports AS u JOIN imports AS i ON i.after_import_id = u.id "
    # The rows were imported from a check of the volume, and the images by a later import of it.
    "OR (i.volume_id = u.volume_id AND i.kind = 'images' AND i.id > u.id "
    # Images of corrected documents come after the correction that has their rows.
    "AND i.corrects_import_id IS NULL) "
    "WHERE u.id = :import_id AND u.kind = 'rows' "
    "AND ((i.status = 'splitting' AND COALESCE(i.wanted, i.phase) = 'import') OR (i.phase = 'import' "
    "AND (i.status = 'running' "
    "OR EXISTS (SELECT 1 FROM import_chunks AS k WHERE k.import_id = i.id AND k.status = 'done')))) ORDER BY i.id"
)


def restore_page_sets(transaction: Session, page_sets: Mapping[int, int | None]) -> None:
    """Set the page sets of exhibits, by id, in one statement; their versions were raised with their other values."""
    if page_sets:
        transaction.execute(_RESTORE, {"pairs": json.dumps(sorted(page_sets.items()))})


def delete_pages(transaction: Session, entries: Iterable[Entry]) -> None:
    """Delete the page sets that the histories of removed documents name; no other document has them."""
    _delete(transaction, {each for entry in entries for each in _list_named(entry)})


def delete_unused_pages(transaction: Session, import_id: int, histories: Mapping[int, Sequence[Entry]]) -> None:
    """Delete the page sets that the import has set in documents, by id, unless the document or a production has them.

    The caller has locked the documents and restored them. The import counts no more: no undo can bring the pages back.
    """
    named = {each for entries in histories.values() for entry in entries for each in _list_set(entry, import_id)}
    if named:
        _delete(transaction, named - _find_used(transaction, list(histories)))


def _list_named(entry: Entry) -> Iterator[int]:
    values = entry.changes.get(_KEY, ())
    return (int(value) for value in values if isinstance(value, str))


def _list_set(entry: Entry, import_id: int) -> Iterator[int]:
    value = entry.changes[_KEY].new if _KEY in entry.changes else None
    if entry.import_id == import_id and entry.undo_no is None and isinstance(value, str):
        yield int(value)


def _find_used(reading: Session, exhibit_ids: Sequence[int]) -> set[int]:
    """Return the page sets that documents have, or that productions have reserved numbers for."""
    document = ProductionDocuments
    produced = select(document.page_set_id).where(is_in(document.exhibit_id, exhibit_ids))
    produced = produced.where(document.status != DocumentStatus.VOID, document.page_set_id.is_not(None))
    present = select(Exhibits.page_set_id).where(is_in(Exhibits.id, exhibit_ids), Exhibits.page_set_id.is_not(None))
    return {each for each in reading.scalars(present.union_all(produced)) if each is not None}


def _delete(transaction: Session, page_sets: Iterable[int]) -> None:
    """Delete page sets with their pages by two statements, whatever the number of the pages."""
    ids = sorted(page_sets)
    delete_rows(transaction, "pages", "page_set_id", ids)
    delete_rows(transaction, "page_sets", "id", ids)


def find_live_images(reading: Session, import_id: int) -> int | None:
    """Return an import of images for the documents of this one that counts, None if there is none."""
    rows = reading.execute(_LIVE_IMAGES, {"import_id": import_id})
    return next((row.id for row in rows if row.status not in _UNDONE), None)
