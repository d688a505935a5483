"""Take a sealed volume to its next status: list it or its zip, find its load files, then expand it or have it imported.

Guaranteed: whatever the number and order of messages, a volume is listed once, and becomes ready once with the imports
of its load files, in one transaction; a file that cannot be imported fails the volume with the reason, before anything
of it is expanded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import FileRefusedError
from core.statuses import VolumeStatus
from core.volumes.discovery import DiscoveredFiles
from core.volumes.hash_units import HashUnit
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.observability import logger
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.tenants.starts import postpone
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.expansion import register_entries
from shell.volumes.hash_plans import plan_units
from shell.volumes.import_rows import create_imports
from shell.volumes.pending_work import send_message, send_pending_work
from shell.volumes.records import fail_volume, load_volume, lock_volume
from shell.volumes.sealing import check_declared, discover, find_late_files, is_sealed, register_objects
from shell.work.messages import ListingMessage

_LEAVE = text(
    "UPDATE volumes SET status = :status, load_files = :found, folders = :folders, late_files = :late, "
    "late_names = :names WHERE id = :volume_id"
)
_DELETE_UNITS = text("DELETE FROM volume_units WHERE volume_id = :volume_id")
_COUNT_UNITS = text("UPDATE volumes SET units = :units, units_left = :units WHERE id = :volume_id")
_UNIT_COLUMNS = ("volume_id", "unit_no", "first_file", "last_file")
_READY = text("UPDATE volumes SET status = 'ready', finished_at = NOW(6) WHERE id = :volume_id")


def list_volume(volume_id: int, generation: int) -> None:
    """List a sealed volume, or go on with it, and request what follows.

    While nothing starts for the tenant, a new message with a delay requests the listing.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    volume = load_volume(volume_id)
    if volume is None or volume.generation != generation:
        logger.info("volume not listed", extra={"volume_id": volume_id, "generation": generation})
        return
    if is_sealed(volume, generation):
        if postpone(volume.tenant_id, settings().volume_work_queue_url, ListingMessage(volume_id, generation)):
            return
        try:
            if not _list(volume):
                send_message(volume, ListingMessage)
                return
        except FileRefusedError as refused:
            fail_volume(volume_id, generation, refused.code, str(refused))
            return
    send_pending_work(volume_id)


def _list(volume: Volumes) -> bool:
    """List the volume and end its listing; return False if the deadline neared before the end."""
    if volume.listed_at is None and not (
        register_objects(volume) if volume.archive_key is None else register_entries(volume)
    ):
        return False
    late: tuple[int, list[str]] = (0, [])
    hashed: list[HashUnit] = []
    if volume.archive_key is None:
        check_declared(volume)
        late = find_late_files(volume)
        hashed = plan_units(volume.id) if _is_hashed(volume) else []
    _leave_sealed(volume, *discover(volume), *late, hashed)
    return True


def _is_hashed(volume: Volumes) -> bool:
    options = json.loads(json.loads(volume.import_request or "{}").get("options") or "{}")
    return bool(options.get("verify_hashes"))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _leave_sealed(
    volume: Volumes,
    found: DiscoveredFiles,
    folders: Mapping[str, Sequence[str]],
    late: int,
    names: list[str],
    hashed: Sequence[HashUnit],
) -> None:
    """Have the volume expanded or hashed, or end it; do nothing if another worker did."""
    with session() as transaction:
        current = lock_volume(transaction, volume.id)
        if current is None or not is_sealed(current, volume.generation):
            return
        values = {
            "late": late,
            "names": json.dumps(names) if late else None,
            "found": json.dumps(found.build_document()),
        }
        # Of a load file that an earlier import named, the folders stay known: its chunks can be retried.
        known = {**json.loads(current.folders or "{}"), **folders}
        values["folders"] = json.dumps(known, ensure_ascii=False)
        status = VolumeStatus.HASHING if hashed else VolumeStatus.EXPANDING
        transaction.execute(_LEAVE, {"volume_id": volume.id, "status": status.value, **values})
        if volume.archive_key is None:
            _replace_units(transaction, volume.id, hashed)
        transaction.refresh(current)
        if current.units_left == 0:
            become_ready(transaction, volume.id)


def _replace_units(transaction: Session, volume_id: int, hashed: Sequence[HashUnit]) -> None:
    """Store the units of single files that are hashed in this generation, in place of those of an earlier one."""
    transaction.execute(_DELETE_UNITS, {"volume_id": volume_id})
    rows = [(volume_id, unit_no, *unit) for unit_no, unit in enumerate(hashed, start=1)]
    insert_new(transaction, "volume_units", _UNIT_COLUMNS, rows)
    transaction.execute(_COUNT_UNITS, {"volume_id": volume_id, "units": len(hashed)})


def become_ready(transaction: Session, volume_id: int) -> None:
    """Make a volume without units left ready, and create its imports. The caller has locked its row."""
    transaction.execute(_READY, {"volume_id": volume_id})
    volume = lock_volume(transaction, volume_id)
    if volume is None or volume.status != VolumeStatus.READY or volume.load_files is None:
        raise RuntimeError(f"volume {volume_id} was not expanding")
    create_imports(transaction, volume, DiscoveredFiles(**json.loads(volume.load_files)))
