"""Delete a volume's objects and rows, in parts.

Guaranteed: every version of every object under the volume's prefixes is deleted before its rows are, and its own row
stays, as deleted; a part that ends at its deadline, or is killed, is continued by the next message.
Not guaranteed: that nothing is put under the prefixes later. A signed URL lives on for UPLOAD_URL_SECONDS.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import text

from core.statuses import VolumeStatus
from shell.aws.object_versions import delete_page
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.observability import logger
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.volumes.messages import Task, send_task
from shell.volumes.records import load_volume

PAUSE_S = 60
ROWS_PER_STATEMENT = 10_000

_DELETE_ROWS = [
    text(f"DELETE FROM {table} WHERE volume_id = :volume_id LIMIT {ROWS_PER_STATEMENT}")  # noqa: S608
    for table in ("volume_files", "volume_units", "volume_uploads")
]
_END = text("UPDATE volumes SET status = 'deleted', finished_at = NOW(6) WHERE id = :volume_id AND status = 'deleting'")


def delete_volume_part(volume_id: int) -> None:
    """Delete a volume that is being deleted; if the deadline nears before the end, request the rest.

    Raises StorageUnavailableError if S3 does not delete an object.
    """
    volume = load_volume(volume_id)
    if volume is None or volume.status != VolumeStatus.DELETING:
        return
    if not _delete(volume, build_deadline_check(PAUSE_S)):
        send_task(volume, Task.DELETE)
        return
    _end(volume_id)
    logger.info("volume deleted", extra={"volume_id": volume_id})


def _delete(volume: Volumes, is_deadline_near: Callable[[], bool]) -> bool:
    """Delete objects, then rows; return False if the deadline nears before the end."""
    archive_prefix = (volume.archive_key or "").rpartition("/")[0]
    for prefix in (volume.prefix, archive_prefix and f"{archive_prefix}/"):
        while prefix and delete_page(settings().bucket, prefix):
            if is_deadline_near():
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
def _end(volume_id: int) -> None:
    with session() as transaction:
        transaction.execute(_END, {"volume_id": volume_id})
