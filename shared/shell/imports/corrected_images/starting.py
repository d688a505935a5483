"""Create the imports of images of corrected documents, in the transaction that ends a correction or the images.

Guaranteed: whichever of the two ends last creates the import, once, if the correction completes, however the images
end; a correction that fails or is cancelled has none until its retry completes. The end of the images locks the
corrections of their data file, so that it sees those that have ended and the others see it, and the import has one key
for each generation of the correction: one that is retried has its later rows followed, too, without the lines that are
taken. Where no rejected document is of a corrected row, nothing is created. The import comes after the correction,
which is undone after it, and starts as `shell.imports.state.dependents` says. Rows of imports are locked in this order:
the import of the data file, that of the images, the corrections.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.statuses import ImportKind, ImportPhase, ImportStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.imports.corrected_images.matching import find_accepted, find_documents
from shell.imports.state.dependents import release_dependents
from shell.tables.imports import Imports

_IS_CREATED = text("SELECT 1 FROM imports WHERE upload_key = :key")
_WITH_REJECTIONS = (
    *(ImportStatus.COMPLETED_WITH_REJECTIONS, ImportStatus.COMPLETED),
    *(ImportStatus.FAILED, ImportStatus.CANCELLED),
)
_CORRECTIONS = text(
    "SELECT id, user_id, status, generation FROM imports WHERE corrects_import_id = :import_id AND kind = 'rows' "
    "AND phase = 'import' AND volume_id IS NOT NULL ORDER BY id FOR UPDATE"
)
_ENDED_WELL = (ImportStatus.COMPLETED, ImportStatus.COMPLETED_WITH_REJECTIONS)


def build_images_key(correction_id: int, generation: int, images_id: int) -> bytes:
    """Return the 32 bytes that identify the import of images after a generation of a correction."""
    return hashlib.sha256(f"corrected images\0{correction_id}\0{generation}\0{images_id}".encode()).digest()


def is_of_corrected(import_record: Imports) -> bool:
    """Return whether an import is one of images of corrected documents."""
    return import_record.kind == ImportKind.IMAGES and import_record.corrects_import_id is not None


def create_images(transaction: Session, import_record: Imports) -> None:
    """Create what begins with the end of a correction, or of images whose data file has corrections.

    The caller has locked the import, and that which it comes after, and releases what comes after it. Raises
    QueueUnavailableError if the queue does not take a request; the caller must then roll back.
    """
    if _corrects_rows(import_record):
        for images in _list_images(transaction, import_record.corrects_import_id):
            documents = {each.exhibit_id for each in find_documents(transaction, images)}
            found = documents & find_accepted(transaction, import_record.id) if documents else set()
            _create(transaction, images, import_record, len(found))
    else:
        create_after_images(transaction, import_record.id)


def create_after_images(transaction: Session, import_id: int) -> None:
    """Create what begins with the end of images, however they end; do nothing for any other import.

    The caller holds the locks that `create_images` needs. Raises QueueUnavailableError as that does.
    """
    import_record = transaction.get_one(Imports, import_id, populate_existing=True)
    if _has_data_file(import_record):
        _create_after_images(transaction, import_record)


def _corrects_rows(import_record: Imports) -> bool:
    is_correction = import_record.corrects_import_id is not None and import_record.kind == ImportKind.ROWS
    return is_correction and import_record.volume_id is not None


def _has_data_file(import_record: Imports) -> bool:
    is_original = import_record.corrects_import_id is None and import_record.kind == ImportKind.IMAGES
    return is_original and import_record.phase == ImportPhase.IMPORT and import_record.after_import_id is not None


def _list_images(transaction: Session, rows_id: int | None) -> list[Imports]:
    """Return the imports of image load files that came after the data file and have ended."""
    statement = select(Imports).where(Imports.after_import_id == rows_id, Imports.kind == ImportKind.IMAGES.value)
    statement = statement.where(Imports.phase == ImportPhase.IMPORT.value, Imports.corrects_import_id.is_(None))
    statement = statement.where(Imports.status.in_([each.value for each in _WITH_REJECTIONS]))
    return list(transaction.scalars(statement.order_by(Imports.id)))


def _create_after_images(transaction: Session, images: Imports) -> None:
    corrections = _list_ended(transaction, images)
    documents = {each.exhibit_id for each in find_documents(transaction, images)} if corrections else set()
    for correction in corrections:
        found = documents & find_accepted(transaction, correction.id) if documents else set()
        if _create(transaction, images, correction, len(found)):
            release_dependents(transaction, correction.id)


def _list_ended(transaction: Session, images: Imports) -> list[Any]:
    """Lock the corrections of the data file; return those that have ended well."""
    rows = transaction.execute(_CORRECTIONS, {"import_id": images.after_import_id})
    return [row for row in rows if row.status in _ENDED_WELL]


def _create(transaction: Session, images: Imports, correction: Any, documents: int) -> bool:
    """Insert the import, which waits for the correction; return whether it was, for at least one document."""
    key = build_images_key(correction.id, correction.generation, images.id)
    if not documents or transaction.execute(_IS_CREATED, {"key": key}).first() is not None:
        return False
    row = _build(images, correction, key)
    transaction.add(row)
    transaction.flush()
    summary = {"correctingImportId": row.id, "rows": documents, "discarded": 0}
    act = Act(ActKind.IMPORT_CORRECTED, images.id, images.case_id, summary)
    record_own_act(transaction, images.tenant_id, act)
    return True


def _build(images: Imports, correction: Any, key: bytes) -> Imports:
    return Imports(
        upload_key=key,
        tenant_id=images.tenant_id,
        case_id=images.case_id,
        bucket=images.bucket,
        object_key=images.object_key,
        version_id=images.version_id,
        etag=images.etag,
        size=images.size,
        file_name=images.file_name,
        user_id=correction.user_id,
        options=images.options or "{}",
        profile_name=images.profile_name,
        profile_version=images.profile_version,
        status=ImportStatus.WAITING.value,
        phase=ImportPhase.IMPORT.value,
        kind=ImportKind.IMAGES.value,
        volume_id=images.volume_id,
        after_import_id=correction.id,
        corrects_import_id=images.id,
    )
