"""Find imports that found documents unchanged which an undo removes or changes.

Guaranteed: the counts are exact for every chunk that has stored which exhibits it found unchanged.
Not guaranteed: a count for chunks of versions that did not; `shell.imports.undo.queries` counts their rows at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.imports.id_lists import decode_ids
from shell.imports.undo.context import PartResult, UndoContext

LISTS_PER_PAGE = 200
# What was found before this part of the import was committed is not affected: the undo leaves what was there then.
_LISTS = text("""
    SELECT u.import_id, u.chunk_no, u.exhibit_ids FROM import_chunks AS mine
    JOIN imports AS i ON i.case_id = :case_id AND i.id <> :import_id
    JOIN import_unchanged AS u ON u.import_id = i.id AND u.first_id <= :last AND u.last_id >= :first
    JOIN import_chunks AS k ON k.import_id = u.import_id AND k.chunk_no = u.chunk_no
    WHERE mine.import_id = :import_id AND mine.chunk_no = :chunk_no AND k.finished_at > mine.finished_at
      AND (u.import_id > :after_import OR u.import_id = :after_import AND u.chunk_no > :after_chunk)
    ORDER BY u.import_id, u.chunk_no LIMIT :page
""")


def count_unchanged(reading: Session, context: UndoContext, chunk_no: int, result: PartResult) -> Counter[int]:
    """Return how many of the documents that the part restored or removed each import that counts found unchanged."""
    counts: Counter[int] = Counter()
    concerned = {*result.restored, *result.removed}
    if concerned:
        for row in _list_pages(reading, context, chunk_no, (min(concerned), max(concerned))):
            if row.import_id not in context.undone:
                counts[row.import_id] += len(concerned.intersection(decode_ids(row.exhibit_ids)))
    return +counts


def _list_pages(reading: Session, context: UndoContext, chunk_no: int, ids: tuple[int, int]) -> Iterator[Any]:
    place = {"case_id": context.import_record.case_id, "import_id": context.import_record.id, "chunk_no": chunk_no}
    after_import, after_chunk = 0, 0
    while True:
        after = {"after_import": after_import, "after_chunk": after_chunk, "page": LISTS_PER_PAGE}
        rows = reading.execute(_LISTS, {**place, **after, "first": ids[0], "last": ids[1]}).all()
        yield from rows
        if len(rows) < LISTS_PER_PAGE:
            return
        after_import, after_chunk = rows[-1].import_id, rows[-1].chunk_no
