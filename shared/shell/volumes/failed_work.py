"""Handle dead letters of volumes' work: retry once, then record the volume as failed.

Guaranteed: a volume is recorded as failed only after its message was sent back once, and not if it has been retried
since. A deletion is never given up by itself: deleting the volume again requests it again.
"""

from __future__ import annotations

from sqlalchemy import text

from core.codes import VolumeFailure
from core.volumes.errors import shorten_name
from shell.db.session import session
from shell.observability import logger
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.records import fail_volume, load_volume
from shell.work.messages import ExpansionMessage, HashingMessage, ListingMessage, VolumeMessage
from shell.work.redrive import send_back

_FIRST = text(
    "SELECT path FROM volume_files WHERE volume_id = :volume_id AND unit_no = :unit_no ORDER BY file_no LIMIT 1"
)
_AGAIN = "Import the volume again; if it fails again, ask the operator for the log."


def handle_failed_work(message: VolumeMessage) -> None:
    """Send a message back the first time; the second time, record its volume as failed."""
    volume = load_volume(message.volume_id)
    if volume is None or send_back(message, settings().volume_work_queue_url, lambda: volume.tenant_id):
        return
    logger.error("volume work failed in every attempt", extra={"volume_id": volume.id, "task": message.task})
    if isinstance(message, ExpansionMessage):
        unit_no = message.unit_no
        text_ = f"Part {unit_no} of the zip, from {_find_first(volume.id, unit_no)} on, was not expanded. {_AGAIN}"
        fail_volume(volume.id, message.generation, VolumeFailure.NOT_EXPANDED, text_, unit_no)
    elif isinstance(message, HashingMessage):
        unit_no = message.unit_no
        text_ = f"The hashes of part {unit_no} of the files were not computed in any attempt. {_AGAIN}"
        fail_volume(volume.id, message.generation, VolumeFailure.NOT_HASHED, text_, unit_no)
    elif isinstance(message, ListingMessage):
        text_ = f"The files of the volume were not listed in any attempt. {_AGAIN}"
        fail_volume(volume.id, message.generation, VolumeFailure.NOT_LISTED, text_)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_first(volume_id: int, unit_no: int) -> str:
    with session() as reading:
        return shorten_name(reading.execute(_FIRST, {"volume_id": volume_id, "unit_no": unit_no}).scalar() or "")
