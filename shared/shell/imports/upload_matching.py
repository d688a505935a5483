"""Match an uploaded file to its import.

Guaranteed: one import per upload, however often and concurrently its event is delivered. The first file that is
uploaded to the key of an announced import is bound to that import, under a lock on its row alone. A later file at the
same key becomes an import of its own, with the options and the user of the first. It is held if the first ever was, and
checked if the first was, also after that was run: each run is a request for one upload. If the first was cancelled, the
new import is created as cancelled and does not start: a client that repeats its PUT must not undo a cancellation.
A file without an announced import goes into the case that has the name of its key, or had it before
(`shell.imports.refused_uploads`). In a closed case, what arrives becomes an import that has failed, which can be
retried once the case is open. In one that is purging or purged nothing is created.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.errors import ImportBusyError
from core.imports.uploads import Upload, build_placeholder_key
from core.statuses import CaseStatus, ImportPhase, ImportStatus, Wish
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.imports.refused_uploads import EnteredCase, enter_for_upload, fail_in_closed, refuse_upload
from shell.settings import settings
from shell.tables.import_checks import ImportChecks
from shell.tables.imports import Imports
from shell.tenants.starts import counting_starts, lock_starting_tenant, postpone_start
from shell.utils.db_helpers import count_changed_rows, insert_or_get, rerun_if_unknown, retry_on_db_conflict
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock

# A cancelled import stays cancelled. `started_at` is assigned before the status it depends on is changed.
_BIND_UPLOAD = text(
    "UPDATE imports SET upload_key = :upload_key, version_id = :version_id, etag = :etag, size = :size, "
    "started_at = IF(status = 'awaiting_upload', NOW(6), started_at), "
    "status = CASE WHEN status <> 'awaiting_upload' THEN status WHEN wanted = 'hold' THEN 'uploaded' "
    "ELSE 'splitting' END "
    "WHERE id = :import_id AND upload_key = :awaited AND status IN ('awaiting_upload', 'cancelled')"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_or_create_import(upload: Upload) -> int | None:
    """Return the id of the upload's import, and create it if needed; it is simply rerun after an unknown COMMIT.

    Returns None for a new upload into a case that is purging or purged; that is recorded with the case. Raises
    StartPostponedError if the tenant's status lets no import begin now, or none that was not announced, and
    LimitReachedError if it would be one more than the tenant's limit; then nothing is changed.
    """
    with session() as transaction:
        tenant = lock_starting_tenant(transaction, upload.tenant_id)
        with counting_starts(transaction, tenant):
            case = enter_for_upload(transaction, upload, _find_announced_case(transaction, upload))
            if case.is_gone:
                known = _find_import(transaction, upload)
                if known is None:
                    refuse_upload(transaction, upload, case)
                return known
            found, is_new = _match(transaction, upload, case, takes_uploads=tenant.takes_uploads)
            if is_new and case.status is CaseStatus.CLOSED:
                fail_in_closed(transaction, found)
            return found


def _find_announced_case(reading: Session, upload: Upload) -> int | None:
    query = select(Imports.case_id).where(Imports.tenant_id == upload.tenant_id, Imports.upload_id == upload.upload_id)
    at_key = query.where(Imports.bucket == upload.bucket, Imports.object_key == upload.key)
    return reading.execute(at_key).scalar_one_or_none()


def _match(transaction: Session, upload: Upload, case: EnteredCase, *, takes_uploads: bool) -> tuple[int, bool]:
    """Return the id of the upload's import, and whether the upload is new to it."""
    announced = _lock_announced(transaction, upload)
    if announced is None:
        if not takes_uploads and _find_import(transaction, upload) is None:
            postpone_start()
        values = {"case_id": case.id, "user_id": settings().default_user_id}
        return _create_import(transaction, upload, values)
    if bytes(announced.upload_key) == upload.upload_key:
        return announced.id, False
    if _bind_upload(transaction, announced.id, upload):
        return announced.id, True
    return _create_import(transaction, upload, _inherit(transaction, announced))


def _find_import(transaction: Session, upload: Upload) -> int | None:
    own = (Imports.tenant_id == upload.tenant_id, Imports.upload_key == upload.upload_key)
    return transaction.scalar(select(Imports.id).where(*own))


def _inherit(transaction: Session, announced: Imports) -> dict[str, Any]:
    """Return what a later file at the key of an announced import has of that import."""
    about = ("options", "options_version", "profile_name", "profile_version", "corrects_import_id")
    names = ("case_id", "user_id", *about)
    inherited = {name: getattr(announced, name) for name in names}
    if announced.wanted is not None:
        held = {"status": ImportStatus.UPLOADED, "wanted": Wish.HOLD, "phase": ImportPhase.CHECK}
        inherited |= {name: value.value for name, value in held.items()}
    else:
        inherited["phase"] = _find_first_phase(transaction, announced).value
    if announced.status == ImportStatus.CANCELLED:
        inherited |= {"status": ImportStatus.CANCELLED.value, "finished_at": func.now(6)}
    return inherited


def _lock_announced(transaction: Session, upload: Upload) -> Imports | None:
    """Return the import that was announced for this key, locked by its primary key, or None."""
    query = select(Imports.id).where(Imports.tenant_id == upload.tenant_id, Imports.upload_id == upload.upload_id)
    found = transaction.execute(query).scalar_one_or_none()
    if found is None:
        return None
    announced = transaction.scalars(select(Imports).where(Imports.id == found).with_for_update()).one_or_none()
    matches = announced is not None and (announced.bucket, announced.object_key) == (upload.bucket, upload.key)
    return announced if matches else None


def _find_first_phase(transaction: Session, announced: Imports) -> ImportPhase:
    """Return the phase that an import began with: a check that is run has the phase `import`, and its check."""
    is_run_check = transaction.get(ImportChecks, announced.id) is not None
    return ImportPhase.CHECK if is_run_check else ImportPhase(announced.phase)


def _bind_upload(transaction: Session, import_id: int, upload: Upload) -> bool:
    values = {
        "import_id": import_id,
        "awaited": build_placeholder_key(upload.upload_id),
        "upload_key": upload.upload_key,
        "version_id": upload.version_id,
        "etag": upload.etag,
        "size": upload.size,
    }
    return count_changed_rows(transaction.execute(_BIND_UPLOAD, values)) == 1


def _create_import(transaction: Session, upload: Upload, values: dict[str, Any]) -> tuple[int, bool]:
    columns = {
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
    row, is_new = insert_or_get(transaction, Imports, key, columns, unique_key="uq_imports_upload_key")
    if is_new:
        act = Act(ActKind.IMPORT_RECEIVED, row.id, columns["case_id"], {"status": columns["status"]})
        record_own_act(transaction, upload.tenant_id, act)
    return row.id, is_new


@contextmanager
def split_lock(import_record: Imports, ttl_s: float) -> Iterator[None]:
    """Hold the semaphore on the import's file; raise ImportBusyError while another worker holds it.

    While the semaphore is unavailable the block runs without it.
    """
    key = bytes(import_record.upload_key).hex()
    with with_semaphore_lock(key, ttl=ttl_s, namespace="start_import") as slot:
        if slot.outcome is SemaphoreOutcome.SKIPPED:
            raise ImportBusyError(retry_after_s=slot.retry_after_s)
        yield
