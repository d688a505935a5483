"""The case of an upload, and what becomes of an upload into a case that takes none.

Guaranteed: an upload never makes a second case of a name that a case has or had, also after that case was purged. An
upload into a closed case is an import that has failed, with its file; one into a case that is purging or purged is
recorded with the case, without a name, and its object is deleted.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.codes import FileFailure
from core.errors import ConflictError
from core.events import import_failed
from core.imports.uploads import Upload
from core.statuses import CaseChange, CaseStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.case_state.changes import record_change
from shell.case_state.names import find_former
from shell.exhibits.cases import get_or_add_case
from shell.observability import logger
from shell.outbox.writer import append_events
from shell.tables.cases import CaseChanges, Cases
from shell.tables.imports import Imports
from shell.utils.db_helpers import count_changed_rows

_CLOSED = "the case is closed; reopen it, then retry the import"
_FAIL = text(
    "UPDATE imports SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id = :import_id AND status IN ('splitting', 'uploaded')"
)


class EnteredCase(NamedTuple):
    """A case that is locked in shared mode until the transaction ends, with its status."""

    id: int
    status: CaseStatus

    @property
    def is_gone(self) -> bool:
        """Whether the case is purging or purged."""
        return self.status in (CaseStatus.PURGING, CaseStatus.PURGED)


def enter_for_upload(transaction: Session, upload: Upload, announced_case: int | None) -> EnteredCase:
    """Lock the case of an upload, before any other row: that of its announced import, else the one of its key.

    The name of the key finds the case that has it, else the one that had it, else a new case. Raises InvalidInputError
    for a name that the database takes for another one, and ConflictError if the case is renamed meanwhile.
    """
    case_id = _find_case(transaction, upload) if announced_case is None else announced_case
    status = transaction.scalars(select(Cases.status).where(Cases.id == case_id).with_for_update(read=True)).one()
    return EnteredCase(case_id, CaseStatus(status))


def _find_case(transaction: Session, upload: Upload) -> int:
    found = get_or_add_case(transaction, upload.tenant_id, upload.case_name, reuse_purged=False)
    if found is not None:
        return found
    former = find_former(transaction, upload.tenant_id, upload.case_name)
    if former is None:
        raise ConflictError
    return former.case_id


def fail_in_closed(transaction: Session, import_id: int) -> None:
    """Record that an import whose file has just arrived in a closed case does not begin; a cancelled one stays so."""
    code = FileFailure.CASE_CLOSED.value
    failed = transaction.execute(_FAIL, {"import_id": import_id, "code": code, "message": _CLOSED})
    if not count_changed_rows(failed):
        return
    import_record = transaction.get_one(Imports, import_id, populate_existing=True)
    append_events(transaction, [import_failed(import_id, import_record.tenant_id, code)])
    act = Act(ActKind.IMPORT_FAILED, import_id, import_record.case_id, {"code": code})
    record_own_act(transaction, import_record.tenant_id, act)


def refuse_upload(transaction: Session, upload: Upload, case: EnteredCase) -> None:
    """Record an upload that a case does not take any more: once for each version of an object, unless two deliveries
    of its event come at the same time.
    """
    logger.warning("upload refused", extra={"reason": f"the case is {case.status}", "case_id": case.id})
    details = {"status": case.status.value, "bytes": upload.size, "upload": upload.upload_key.hex()}
    recorded = select(CaseChanges.details).where(
        CaseChanges.tenant_id == upload.tenant_id,
        CaseChanges.case_id == case.id,
        CaseChanges.kind == CaseChange.UPLOAD_REFUSED.value,
        CaseChanges.details.contains(details["upload"]),
    )
    if transaction.execute(recorded.limit(1)).first() is None:
        record_change(transaction, transaction.get_one(Cases, case.id), CaseChange.UPLOAD_REFUSED, None, details)
