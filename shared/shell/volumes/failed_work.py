"""Handle dead letters of volumes' work: retry once, then record the volume as failed.

Guaranteed: a volume is recorded as failed only after its message was sent back once, and not if it has been retried
since. A deletion is never given up by itself: deleting the volume again requests it again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from core.codes import VolumeFailure
from core.volumes.errors import shorten_name
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.observability import logger
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.messages import Task
from shell.volumes.records import fail_volume, load_volume

_FIRST = text(
    "SELECT path FROM volume_files WHERE volume_id = :volume_id AND unit_no = :unit_no ORDER BY file_no LIMIT 1"
)
_AGAIN = "Import the volume again; if it fails again, ask the operator for the log."


def settle_failed_work(message: dict[str, Any]) -> None:
    """Send a message back the first time; the second time, record its volume as failed."""
    volume = load_volume(int(message["volume_id"]))
    if volume is None:
        return
    if int(message.get("redrive", 0)) == 0:
        again, config = {**message, "redrive": 1}, settings()
        send_messages(config.volume_work_queue_url, [again], config.redrive_delay_seconds, volume.tenant_id)
        return
    logger.error("volume work failed in every attempt", extra={"volume_id": volume.id, "task": message["task"]})
    if message["task"] == Task.EXPAND:
        unit_no = int(message["unit_no"])
        text_ = f"Part {unit_no} of the zip, from {_find_first(volume.id, unit_no)} on, was not expanded. {_AGAIN}"
        fail_volume(volume.id, int(message["generation"]), VolumeFailure.NOT_EXPANDED, text_, unit_no)
    elif message["task"] == Task.HASH:
        unit_no = int(message["unit_no"])
        text_ = f"The hashes of part {unit_no} of the files were not computed in any attempt. {_AGAIN}"
        fail_volume(volume.id, int(message["generation"]), VolumeFailure.NOT_HASHED, text_, unit_no)
    elif message["task"] == Task.LIST:
        text_ = f"The files of the volume were not listed in any attempt. {_AGAIN}"
        fail_volume(volume.id, int(message["generation"]), VolumeFailure.NOT_LISTED, text_)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_first(volume_id: int, unit_no: int) -> str:
    with session() as reading:
        return shorten_name(reading.execute(_FIRST, {"volume_id": volume_id, "unit_no": unit_no}).scalar() or "")
