"""Delete a volume's objects and rows, in parts.

Guaranteed: every version of every object under the volume's prefixes is deleted before its rows are, and its own row
stays, as deleted; a part that ends at its deadline, or is killed, is continued by the next message. What is put later,
with a signed URL or by a worker that was expanding a zip, is deleted too: the purge requests the deletion again after
UPLOAD_URL_SECONDS and the longest invocation, for a day, and so does a repeated request. No URL is signed meanwhile
(`shell.volumes.uploads`).
Not guaranteed: that nothing is put by other means later.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select, text

from core.statuses import VolumeStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.aws.object_versions import delete_page
from shell.case_state.standing import is_held
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.observability import logger
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.volumes.pending_work import send_message
from shell.volumes.records import load_volume
from shell.work.messages import DeletionMessage

_PAUSE_S = 60
# The timeout of the function that expands: after that, no worker writes to the volume.
LONGEST_INVOCATION_S = 900
# Longer than a day, which is the longest time between two purges.
LOOKED_AGAIN_FOR_S = 26 * 3_600
ROWS_PER_STATEMENT = 10_000

_DELETE_ROWS = [
    text(f"DELETE FROM {table} WHERE volume_id = :volume_id LIMIT {ROWS_PER_STATEMENT}")  # noqa: S608
    for table in ("volume_files", "volume_units", "volume_uploads")
]
_DELETED = text(
    "SELECT * FROM volumes WHERE status = 'deleted' AND id > :after AND finished_at "
    "BETWEEN NOW(6) - INTERVAL :last SECOND AND NOW(6) - INTERVAL :first SECOND "
    "AND NOT EXISTS (SELECT 1 FROM cases AS held WHERE held.id = volumes.case_id AND held.held_at IS NOT NULL) "
    "ORDER BY id LIMIT :most"
)
_END = text("UPDATE volumes SET status = 'deleted', finished_at = NOW(6) WHERE id = :volume_id AND status = 'deleting'")


def delete_volume_part(volume_id: int) -> None:
    """Delete a volume that is being deleted, or what was put since; if the deadline nears before, request the rest.

    Raises StorageUnavailableError if S3 does not delete an object.
    """
    volume = load_volume(volume_id)
    if volume is None or volume.status not in (VolumeStatus.DELETING, VolumeStatus.DELETED):
        return
    # A hold is refused while a volume is being deleted: this message looks for what was put since.
    if is_held(volume.case_id):
        return
    if not _delete(volume, build_deadline_check(_PAUSE_S)):
        send_message(volume, DeletionMessage)
        return
    _end(volume)
    logger.info("volume deleted", extra={"volume_id": volume_id})


def look_again(after_id: int, most: int) -> list[int]:
    """Request the deletion of what was put after volumes were deleted; return the ids of the first `most` after an id.

    Raises QueueUnavailableError unless all are requested.
    """
    volumes = _list_deleted(after_id, most)
    for volume in volumes:
        send_message(volume, DeletionMessage)
    return [volume.id for volume in volumes]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_deleted(after_id: int, most: int) -> list[Volumes]:
    first = settings().upload_url_seconds + LONGEST_INVOCATION_S
    values = {"after": after_id, "most": most, "first": first, "last": first + LOOKED_AGAIN_FOR_S}
    with session() as reading:
        return list(reading.scalars(select(Volumes).from_statement(_DELETED), values))


def _delete(volume: Volumes, is_deadline_near: Callable[[], bool]) -> bool:
    """Delete objects, then rows; return False if the deadline nears before the end."""
    archive_prefix = (volume.archive_key or "").rpartition("/")[0]
    for prefix in (volume.prefix, archive_prefix and f"{archive_prefix}/"):
        while prefix and delete_page(settings().bucket, prefix):
            # A hold can be placed meanwhile if the volume is deleted already.
            if is_deadline_near() or is_held(volume.case_id):
                return False
    for number in range(len(_DELETE_ROWS)):
        while _delete_rows(number, volume.id):
            if is_deadline_near():
                return False
    return True


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _delete_rows(number: int, volume_id: int) -> bool:
    with session() as transaction:
        return count_changed_rows(transaction.execute(_DELETE_ROWS[number], {"volume_id": volume_id})) > 0


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _end(volume: Volumes) -> None:
    with session() as transaction:
        if count_changed_rows(transaction.execute(_END, {"volume_id": volume.id})):
            record_own_act(transaction, volume.tenant_id, Act(ActKind.VOLUME_DELETED, volume.id, volume.case_id))
