"""Write activities in the transaction of the change that they describe.

Guaranteed: an activity commits if and only if its change does, so that a replayed, refused or retried request leaves
one row for each effect or none. A request that changes something commits only if it said what it did, or that it did
nothing (`require_recorded`, called by `shell.api.mutations`). No row is locked that another transaction needs.
Not guaranteed: that ids or times ascend in the order of the commits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy.orm import Session

from core.caller import Caller
from shell.db.bulk_insert import insert_new

_COLUMNS = ("tenant_id", "user_id", "case_id", "action", "object_type", "object_id", "summary")
_RECORDED = "activity_log.recorded"


class ActKind(StrEnum):
    """What was done; the part before the dot is the type of the object. A name never changes its meaning."""

    CASE_CREATED = "case.created"
    CASE_RENAMED = "case.renamed"
    CASE_CLOSED = "case.closed"
    CASE_REOPENED = "case.reopened"
    CASE_HELD = "case.held"
    CASE_LIFTED = "case.lifted"
    CASE_PURGE_REQUESTED = "case.purge_requested"
    CASE_PURGE_WITHDRAWN = "case.purge_withdrawn"
    CASE_PURGE_BEGUN = "case.purge_begun"
    CASE_PURGED = "case.purged"
    CASE_UPLOAD_REFUSED = "case.upload_refused"
    EXHIBITS_TAGGED = "case.exhibits_tagged"
    EXHIBITS_UNTAGGED = "case.exhibits_untagged"
    CUSTODIAN_ADDED = "custodian.added"
    EXHIBIT_CHANGED = "exhibit.changed"
    EXHIBIT_CUSTODIANS_ADDED = "exhibit.custodians_added"
    EXHIBIT_CUSTODIANS_REMOVED = "exhibit.custodians_removed"
    PROFILE_CREATED = "profile.created"
    PROFILE_REPLACED = "profile.replaced"
    PROFILE_DELETED = "profile.deleted"
    IMPORT_CREATED = "import.created"
    IMPORT_RECEIVED = "import.received"
    IMPORT_OPTIONS_CHANGED = "import.options_changed"
    IMPORT_CHECK_REQUESTED = "import.check_requested"
    IMPORT_RUN = "import.run"
    IMPORT_CORRECTED = "import.corrected"
    IMPORT_CANCELLED = "import.cancelled"
    IMPORT_RETRIED = "import.retried"
    IMPORT_EXPIRED = "import.expired"
    IMPORT_CHECKED = "import.checked"
    IMPORT_COMPLETED = "import.completed"
    IMPORT_FAILED = "import.failed"
    UNDO_REQUESTED = "import.undo_requested"
    UNDO_CANCELLED = "import.undo_cancelled"
    UNDO_ENDED = "import.undo_ended"
    VOLUME_CREATED = "volume.created"
    VOLUME_FILES_DECLARED = "volume.files_declared"
    VOLUME_IMPORTED = "volume.imported"
    VOLUME_FAILED = "volume.failed"
    VOLUME_DELETION_REQUESTED = "volume.deletion_requested"
    VOLUME_DELETED = "volume.deleted"
    TAGGING_JOB_CREATED = "tagging_job.created"
    TAGGING_JOB_CANCELLED = "tagging_job.cancelled"
    TAGGING_JOB_COMPLETED = "tagging_job.completed"
    TAGGING_JOB_FAILED = "tagging_job.failed"
    PRODUCTION_CREATED = "production.created"
    PRODUCTION_CANCEL_REQUESTED = "production.cancel_requested"
    PRODUCTION_RETRIED = "production.retried"
    PRODUCTION_CONFIRMED = "production.confirmed"
    PRODUCTION_CANCELLED = "production.cancelled"
    PRODUCTION_NEEDS_ATTENTION = "production.needs_attention"
    EXPORT_REQUESTED = "export.requested"
    EXPORT_CANCELLED = "export.cancelled"
    EXPORT_COMPLETED = "export.completed"
    EXPORT_FAILED = "export.failed"
    EVENTS_RETRIED = "event.retried"
    DEVICE_LABELLED = "device.labelled"
    PERIODS_ADDED = "device.periods_added"
    PERIOD_CHANGED = "device.period_changed"
    PERIOD_REMOVED = "device.period_removed"
    DEVICE_TRANSFERRED = "device.transferred"

    @property
    def object_type(self) -> str:
        """The type of the object to which it was done."""
        return self.value.partition(".")[0]


@dataclass(frozen=True)
class Act:
    """Something that was done to an object: to which, in which case (None: none), and its counts, codes and ids.

    `summary` never has content of a document, or a name or text that a user chose.
    """

    action: ActKind
    object_id: int
    case_id: int | None
    summary: Mapping[str, object] = field(default_factory=dict)


def record_act(transaction: Session, caller: Caller, *acts: Act) -> None:
    """Record what the caller did, with one statement for any number of acts."""
    _insert(transaction, caller.tenant_id, caller.user_id, acts)


def record_own_act(transaction: Session, tenant_id: str, *acts: Act) -> None:
    """Record what the application did for a tenant without a request."""
    _insert(transaction, tenant_id, None, acts)


def record_user_act(transaction: Session, tenant_id: str, user_id: str | None, *acts: Act) -> None:
    """Record what a user did, or the application: then `user_id` is None."""
    _insert(transaction, tenant_id, user_id, acts)


def record_no_act(transaction: Session) -> None:
    """State that the request changed nothing, so that it has no activity."""
    transaction.info[_RECORDED] = True


def require_recorded(transaction: Session) -> None:
    """Raise RuntimeError, so that nothing commits, if the transaction neither recorded an act nor stated that there
    is none: every route that changes something must.
    """
    if not transaction.info.get(_RECORDED):
        raise RuntimeError("The effect of a request recorded no activity; call record_act or record_no_act.")


def _insert(transaction: Session, tenant_id: str, user_id: str | None, acts: Sequence[Act]) -> None:
    transaction.info[_RECORDED] = True
    rows = [
        (tenant_id, user_id, each.case_id, each.action.value, each.action.object_type, each.object_id, _format(each))
        for each in acts
    ]
    insert_new(transaction, "activities", _COLUMNS, rows)


def _format(act: Act) -> str:
    return json.dumps(dict(act.summary))
