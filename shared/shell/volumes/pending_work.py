"""Send the messages of a volume's work: what its status still needs. Sending again is harmless."""

from __future__ import annotations

from functools import partial

from sqlalchemy import text

from core.errors import ImportBusyError
from core.statuses import ImportStatus, UnitStatus, VolumeStatus
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.records import RETRY_AFTER_S, load_volume
from shell.work.messages import DeletionMessage, ExpansionMessage, HashingMessage, ImportMessage, ListingMessage
from shell.work.units import UnitKind

# The work of a unit is done before its row is locked: that takes a moment. A failed one is done by a retry.
UNITS = UnitKind(
    "volume_units",
    ("volume_id", "unit_no"),
    "volumes",
    ("id",),
    "units_left",
    opened=(UnitStatus.PENDING, UnitStatus.FAILED),
    busy=partial(ImportBusyError, retry_after_s=RETRY_AFTER_S),
)
_IMPORTS = text("SELECT id, generation FROM imports WHERE volume_id = :volume_id AND status = :status ORDER BY id")


UnitMessage = type[ExpansionMessage | HashingMessage]
_UNIT_MESSAGES: dict[str, UnitMessage] = {
    VolumeStatus.EXPANDING: ExpansionMessage,
    VolumeStatus.HASHING: HashingMessage,
}


def send_message(volume: Volumes, message: type[ListingMessage | DeletionMessage]) -> None:
    """Request the listing or deletion of a volume. Raises QueueUnavailableError unless the queue takes the message."""
    body = message(volume.id, volume.generation)
    send_messages(settings().volume_work_queue_url, [body], tenant_id=volume.tenant_id)


def send_pending_work(volume_id: int) -> None:
    """Request what the volume's status still needs: the expansion or hashing of its units, or the start of its imports.

    Raises QueueUnavailableError unless everything is requested.
    """
    volume = load_volume(volume_id)
    if volume is None:
        return
    if volume.status in _UNIT_MESSAGES:
        _send_units(volume, _UNIT_MESSAGES[volume.status])
    elif volume.status == VolumeStatus.READY:
        send_messages(settings().import_requests_queue_url, _list_requests(volume_id), tenant_id=volume.tenant_id)


def _send_units(volume: Volumes, message: UnitMessage) -> None:
    for page in UNITS.list_pages(volume.id):
        bodies = [message(volume.id, volume.generation, unit_no) for unit_no in page]
        send_messages(settings().volume_work_queue_url, bodies, tenant_id=volume.tenant_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_requests(volume_id: int) -> list[ImportMessage]:
    with session() as reading:
        rows = reading.execute(_IMPORTS, {"volume_id": volume_id, "status": ImportStatus.SPLITTING.value}).all()
    return [ImportMessage(row.id, row.generation) for row in rows]
