"""Import and delete volumes.

Guaranteed: a volume is sealed, or begins to be deleted, in one transaction, under the lock on its row; its message is
sent before the commit, and the worker that receives it waits for that lock. A volume is deleted only if no document
can refer to its files: no import of it runs, and those that ended imported nothing or were undone.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import bindparam, func, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.volumes import VolumeDetails, VolumeImportRequest
from core.errors import InvalidInputError, WrongStateError
from core.statuses import ACTIVE_STATUSES, ImportStatus, VolumeStatus
from core.volumes.zip_names import NAME_ENCODINGS, find_ignored_kind
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.aws.new_objects import find_object
from shell.aws.object_versions import list_latest
from shell.case_state.fence import Entry, enter_case
from shell.imports.uploads import check_options
from shell.settings import settings
from shell.tables.volumes import Volumes, VolumeUploads
from shell.volumes.pending_work import send_message
from shell.volumes.queries import build_volume_not_found, enter_volume, has_imports, read_details, require_volume
from shell.volumes.records import lock_volume
from shell.volumes.sealing import describe_missing
from shell.work.messages import DeletionMessage, ListingMessage

# Longer lists take too long for a request; the worker that lists the volume checks them.
MAX_CHECKED = 20_000
_BUSY = (
    *(ImportStatus.AWAITING_UPLOAD, ImportStatus.UPLOADED, ImportStatus.WAITING, ImportStatus.SPLITTING),
    *sorted(ACTIVE_STATUSES),
)
_WITHOUT_ROWS = (
    *(ImportStatus.FAILED, ImportStatus.CANCELLED, ImportStatus.BLOCKED, ImportStatus.CHECKED),
    *(ImportStatus.COMPLETED, ImportStatus.COMPLETED_WITH_REJECTIONS),
)

_FIND_BUSY = text(
    "SELECT id FROM imports WHERE volume_id = :volume_id AND status IN :statuses ORDER BY id LIMIT 1"
).bindparams(bindparam("statuses", expanding=True))
_FIND_NEEDING = text(
    "SELECT id, status FROM imports WHERE volume_id = :volume_id AND status <> 'undone' "
    "AND NOT (status IN :ended AND imported + unchanged + updated = 0) ORDER BY id LIMIT 1"
).bindparams(bindparam("ended", expanding=True))

_FIND_PRODUCING = text(
    "SELECT id FROM productions FORCE INDEX (ix_productions_case) "
    "WHERE tenant_id = :tenant_id AND case_id = :case_id AND status NOT IN ('confirmed', 'cancelled') LIMIT 1"
)


def import_volume(transaction: Session, caller: Caller, volume_id: int, body: VolumeImportRequest) -> VolumeDetails:
    """Seal a volume and have its load files imported; or import a volume again that failed or was undone.

    Raises NotFoundError for a volume or profile of others, InvalidInputError for invalid options, WrongStateError
    unless the volume is complete and nothing works on it, StorageUnavailableError and QueueUnavailableError.
    """
    case_id = require_volume(transaction, caller, volume_id)
    # Before the lock on the case: S3 may take seconds to list a volume.
    version_id = _check_uploaded(transaction, volume_id)
    enter_case(transaction, case_id)
    volume = _lock(transaction, volume_id)
    if volume.status not in (VolumeStatus.OPEN, VolumeStatus.FAILED, VolumeStatus.READY):
        if volume.status in (VolumeStatus.DELETING, VolumeStatus.DELETED):
            raise WrongStateError("The files of the volume are deleted; upload them as a new volume.")
        raise WrongStateError(f"The volume has the status {volume.status}; wait until it is ready or failed.")
    statuses = [each.value for each in _BUSY]
    busy = transaction.execute(_FIND_BUSY, {"volume_id": volume_id, "statuses": statuses}).scalar()
    if busy is not None:
        raise WrongStateError(f"Import {busy} of the volume has not ended; wait for it, or cancel it.")
    if _is_listed_anew(transaction, volume, body):
        volume.listed_at = volume.list_position = None
        volume.archive_version_id = version_id
    volume.import_request = json.dumps(_build_request(transaction, caller, volume, body), ensure_ascii=False)
    volume.status = VolumeStatus.SEALED.value
    volume.runs, volume.generation = volume.runs + 1, volume.generation + 1
    volume.failure_code = volume.failure_message = volume.finished_at = volume.load_files = None
    transaction.flush()
    summary = {"run": volume.runs, "dryRun": body.dry_run}
    record_act(transaction, caller, Act(ActKind.VOLUME_IMPORTED, volume_id, volume.case_id, summary))
    send_message(volume, ListingMessage)
    return read_details(transaction, caller, volume_id)


def _lock(transaction: Session, volume_id: int) -> Volumes:
    volume = lock_volume(transaction, volume_id)
    if volume is None:
        raise build_volume_not_found()
    return volume


def _is_listed_anew(transaction: Session, volume: Volumes, body: VolumeImportRequest) -> bool:
    """Return whether the list is not complete, or may have changed and has no import that refers to it."""
    if volume.listed_at is None:
        return True
    may_change = volume.archive_key is None or body.zip_names is not None
    return volume.status == VolumeStatus.FAILED and may_change and not has_imports(transaction, volume.id)


def _build_request(transaction: Session, caller: Caller, volume: Volumes, body: VolumeImportRequest) -> dict[str, Any]:
    """Return what the volume's imports are created with."""
    if body.zip_names is not None and (volume.archive_key is None or body.zip_names not in NAME_ENCODINGS):
        raise InvalidInputError(f"zipNames is for a zip alone, and one of {', '.join(NAME_ENCODINGS)}.")
    options, profile, *_ = check_options(transaction, caller, body.options, body.profile)
    return {
        "load_file": body.load_file,
        "image_load_file": body.image_load_file,
        "zip_names": body.zip_names,
        # A function of the previous release would start a held import: without the member it requires, it fails.
        **({"hold": True} if body.hold else {"dry_run": body.dry_run}),
        "user_id": caller.user_id,
        "options": options,
        "profile_name": profile and profile.name,
        "profile_version": profile and profile.version,
    }


def _check_uploaded(transaction: Session, volume_id: int) -> str | None:
    """Return the version of the volume's zip; None for a volume of files. It is not locked meanwhile.

    Raises WrongStateError if the zip or a declared file is missing.
    """
    volume = transaction.get_one(Volumes, volume_id)
    if volume.archive_key is not None:
        found = find_object(settings().bucket, volume.archive_key)
        if found is None and volume.archive_version_id is None:
            raise WrongStateError("The zip is not uploaded; upload it, and import the volume then.")
        return found and found.version_id
    if volume.status == VolumeStatus.OPEN and (missing := _find_missing(transaction, volume)):
        raise WrongStateError(describe_missing(missing))
    return None


def _find_missing(transaction: Session, volume: Volumes) -> list[str]:
    """Return the declared files that are not in the bucket; nothing for long lists, which are checked later."""
    declared = select(VolumeUploads.path, VolumeUploads.size).where(VolumeUploads.volume_id == volume.id)
    count = select(func.count()).select_from(VolumeUploads).where(VolumeUploads.volume_id == volume.id)
    if not 0 < transaction.scalars(count).one() <= MAX_CHECKED:
        return []
    sizes = dict[str, int]()
    markers: tuple[str, ...] = ()
    while True:
        page = list_latest(settings().bucket, volume.prefix, markers)
        sizes |= {each.key.removeprefix(volume.prefix): each.size for each in page.objects}
        markers = page.next
        if not markers or len(sizes) > MAX_CHECKED:
            break
    if markers:
        return []
    rows = transaction.execute(declared).all()
    return [path for path, size in rows if find_ignored_kind(path) is None and sizes.get(path) != size]


def delete_volume(transaction: Session, caller: Caller, volume_id: int) -> VolumeDetails:
    """Delete a volume that no import needs; deleting again looks for what is left, or was put there since.

    Raises NotFoundError for a volume of others, QueueUnavailableError, and WrongStateError if an import of the volume
    needs its files, or if it had imports and a production of its case has not ended.
    """
    enter_volume(transaction, caller, volume_id, Entry.REMOVE)
    volume = _lock(transaction, volume_id)
    is_deleted = volume.status == VolumeStatus.DELETED
    if not is_deleted and has_imports(transaction, volume_id):
        _check_not_needed(transaction, caller, volume)
    if not is_deleted and volume.status != VolumeStatus.DELETING:
        volume.status, volume.generation = VolumeStatus.DELETING.value, volume.generation + 1
        record_act(transaction, caller, Act(ActKind.VOLUME_DELETION_REQUESTED, volume_id, volume.case_id))
    else:
        record_no_act(transaction)
    transaction.flush()
    send_message(volume, DeletionMessage)
    return read_details(transaction, caller, volume_id)


def _check_not_needed(transaction: Session, caller: Caller, volume: Volumes) -> None:
    ended = [each.value for each in _WITHOUT_ROWS]
    needing = transaction.execute(_FIND_NEEDING, {"volume_id": volume.id, "ended": ended}).one_or_none()
    if needing is not None:
        advice = "undo it first, or cancel it if it runs"
        if needing.status == ImportStatus.UNDONE_WITH_CONFLICTS:
            advice = "documents that its undo kept have them: correct what its kept.csv lists, and undo it again"
        raise WrongStateError(f"Import {needing.id} needs the files of the volume; {advice}.")
    # It may have selected documents before the undo that took them away.
    values = {"tenant_id": caller.tenant_id, "case_id": volume.case_id}
    producing = transaction.execute(_FIND_PRODUCING, values).scalar()
    if producing is not None:
        raise WrongStateError(
            f"Production {producing} of the case may need the files of the volume; wait until it ends."
        )
