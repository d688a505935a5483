"""Find the documents of a volume's data file that have no pages, once its image load file is imported.

Guaranteed: the count is of all of them, whatever the order of the chunks; it does not depend on earlier attempts.
Memory holds the first MAX_LISTED of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.statuses import ImportKind
from core.volumes.documents import NamedDocument
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.documents import (
    NO_IMAGES,
    describe_without_images,
    find_without_pages,
    read_accepted,
    store_whole_counts,
)

MAX_LISTED = 10_000
# The warnings of the file that the split writes are numbered from 0.
_FIRST_SEQ = 800_000
_COLUMNS = ("import_id", "line_no", "seq", "chunk_no", "code", "message", "control_number")
_LAST_BESIDE = text(
    "SELECT MAX(id) FROM imports WHERE after_import_id = :after AND kind = 'images' AND phase = :phase AND (status IN "
    "('completed', 'completed_with_rejections', 'checked') OR (status IN ('checking', 'running') AND chunks_left = 0))"
)
_DELETE = text("DELETE FROM import_warnings WHERE import_id = :import_id AND line_no = 0 AND code = :code")


@dataclass
class DocumentsWithoutImages:
    """How many documents of the data file have no pages, and the first of them.

    The count is None if another image load file of the volume has them all.
    """

    count: int | None = 0
    first: list[NamedDocument] = field(default_factory=list)


def find_without_images(import_record: Imports) -> DocumentsWithoutImages | None:
    """Return the documents without pages; None unless the import is of images that come after their data file.

    Of several image load files of the volume, the last one whose chunks are done has those without pages in any.
    """
    after = import_record.after_import_id
    if import_record.kind != ImportKind.IMAGES or import_record.volume_id is None or after is None:
        return None
    if find_last_beside(import_record) != import_record.id:
        return DocumentsWithoutImages(None)
    found, count = DocumentsWithoutImages(), 0
    for documents in read_accepted(after):
        without = find_without_pages(import_record.case_id, documents)
        count += len(without)
        found.first += without[: MAX_LISTED - len(found.first)]
    found.count = count
    return found


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_last_beside(import_record: Imports) -> int | None:
    """Return the last import of an image load file, of those that come after the same one, whose chunks are done."""
    values = {"after": import_record.after_import_id, "phase": import_record.phase}
    with session() as reading:
        found: int | None = reading.execute(_LAST_BESIDE, values).scalar()
    return found


def store_without_images(transaction: Session, import_id: int, found: DocumentsWithoutImages) -> None:
    """Write the count, and a warning for each of the first documents, in place of those of an earlier attempt."""
    transaction.execute(_DELETE, {"import_id": import_id, "code": NO_IMAGES})
    insert_new(transaction, "import_warnings", _COLUMNS, list(_build_warnings(import_id, found)))
    store_whole_counts(transaction, import_id, without_images=found.count)


def _build_warnings(import_id: int, found: DocumentsWithoutImages) -> Iterator[tuple[Any, ...]]:
    for seq, document in enumerate(found.first, start=_FIRST_SEQ):
        message = describe_without_images(document.line_no)
        yield import_id, 0, seq, 0, NO_IMAGES, message, document.key
    if more := (found.count or 0) - len(found.first):
        message = f"{more:,} more documents of the data file have no pages; only the first {MAX_LISTED:,} are listed."
        yield import_id, 0, _FIRST_SEQ + MAX_LISTED, 0, NO_IMAGES, message, None
