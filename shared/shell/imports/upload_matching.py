"""Which import an uploaded file belongs to.

Guaranteed: one import an upload, however often and however many at once its event comes. The first file that comes to
the place that an announced import was given becomes that import, under a lock on its row alone; what is put there
later is an import of its own, with the options and the user of the first. What comes after that was cancelled is made
known, as cancelled, and starts nothing: a client that repeats its PUT must not undo a cancellation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.errors import ImportBusyError
from core.statuses import ImportStatus
from core.uploads import Upload, awaited_key
from shell.case_ops import case_of
from shell.settings import settings
from shell.tables.imports import Imports
from shell.utils.db_helpers import changed_rows, insert_or_get, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock

# A cancelled import stays cancelled; `started_at` comes before the status that it looks at is changed.
_ADOPT = text(
    "UPDATE imports SET upload_key = :upload_key, version_id = :version_id, etag = :etag, size = :size, "
    "started_at = IF(status = 'awaiting_upload', NOW(6), started_at), "
    "status = IF(status = 'awaiting_upload', 'splitting', status) "
    "WHERE id = :import_id AND upload_key = :awaited AND status IN ('awaiting_upload', 'cancelled')"
)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def import_of(upload: Upload) -> int:
    """The id of the upload's import, made if need be; a COMMIT of unknown outcome is settled by looking again."""
    with session() as transaction:
        announced = _announced(transaction, upload)
        if announced is None:
            case_id = case_of(transaction, upload.tenant_id, upload.case_name)
            return _own_import(transaction, upload, {"case_id": case_id, "user_id": settings().default_user_id})
        if bytes(announced.upload_key) == upload.upload_key or _adopt(transaction, announced.id, upload):
            return announced.id
        inherited = {"case_id": announced.case_id, "user_id": announced.user_id, "options": announced.options}
        if announced.status == ImportStatus.CANCELLED:
            inherited |= {"status": ImportStatus.CANCELLED.value, "finished_at": func.now(6)}
        return _own_import(transaction, upload, inherited)


def _announced(transaction: Session, upload: Upload) -> Imports | None:
    """The import that was announced for this very place, locked by its primary key as everybody locks it."""
    wanted = select(Imports.id).where(Imports.tenant_id == upload.tenant_id, Imports.upload_id == upload.upload_id)
    found = transaction.execute(wanted).scalar_one_or_none()
    if found is None:
        return None
    announced = transaction.scalars(select(Imports).where(Imports.id == found).with_for_update()).one_or_none()
    same = announced is not None and (announced.bucket, announced.object_key) == (upload.bucket, upload.key)
    return announced if same else None


def _adopt(transaction: Session, import_id: int, upload: Upload) -> bool:
    values = {
        "import_id": import_id,
        "awaited": awaited_key(upload.upload_id),
        "upload_key": upload.upload_key,
        "version_id": upload.version_id,
        "etag": upload.etag,
        "size": upload.size,
    }
    return changed_rows(transaction.execute(_ADOPT, values)) == 1


def _own_import(transaction: Session, upload: Upload, values: dict[str, Any]) -> int:
    known = {
        "tenant_id": upload.tenant_id,
        "bucket": upload.bucket,
        "object_key": upload.key,
        "version_id": upload.version_id,
        "etag": upload.etag,
        "size": upload.size,
        "file_name": upload.file_name,
        "status": ImportStatus.SPLITTING.value,
        **values,
    }
    key = {"upload_key": upload.upload_key}
    return insert_or_get(transaction, Imports, key, known, unique_key="uq_imports_upload_key")[0].id


@retry_on_db_conflict(resolve=repeating_is_harmless)
def current_import(import_id: int) -> Imports | None:
    """The import as it is now; waits for a transaction that is about to change it, and sees what that committed."""
    with session() as locking:
        return locking.scalars(select(Imports).where(Imports.id == import_id).with_for_update()).one_or_none()


def named_import(message: dict[str, Any]) -> int | None:
    """The id in a message that names an import; None for one of S3's."""
    import_id = message.get("import_id")
    return import_id if isinstance(import_id, int) else None


@contextmanager
def only_splitter(the_import: Imports, ttl_s: float) -> Iterator[None]:
    """Raises ImportBusyError while somebody else is at the file; where that cannot be told, goes on."""
    key = bytes(the_import.upload_key).hex()
    with with_semaphore_lock(key, ttl=ttl_s, namespace="start_import") as slot:
        if slot.outcome is SemaphoreOutcome.SKIPPED:
            raise ImportBusyError(retry_after_s=slot.retry_after_s)
        yield
