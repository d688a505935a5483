"""Send the messages of a volume's work: what its status still needs. Sending again is harmless."""

from __future__ import annotations

from sqlalchemy import text

from core.statuses import ImportStatus, UnitStatus, VolumeStatus
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.records import load_volume
from shell.work.messages import DeletionMessage, ExpansionMessage, HashingMessage, ImportMessage, ListingMessage

UNITS_PER_PAGE = 10_000

_UNITS = text(
    "SELECT unit_no FROM volume_units WHERE volume_id = :volume_id AND unit_no > :after AND status <> :done "
    "ORDER BY unit_no LIMIT :most"
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
    after: int | None = 0
    while after is not None:
        units = _list_units(volume.id, after)
        bodies = [message(volume.id, volume.generation, unit_no) for unit_no in units]
        send_messages(settings().volume_work_queue_url, bodies, tenant_id=volume.tenant_id)
        after = units[-1] if len(units) == UNITS_PER_PAGE else None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_units(volume_id: int, after: int) -> list[int]:
    values = {"volume_id": volume_id, "after": after, "most": UNITS_PER_PAGE, "done": UnitStatus.DONE.value}
    with session() as reading:
        return list(reading.scalars(_UNITS, values))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_requests(volume_id: int) -> list[ImportMessage]:
    with session() as reading:
        rows = reading.execute(_IMPORTS, {"volume_id": volume_id, "status": ImportStatus.SPLITTING.value}).all()
    return [ImportMessage(row.id, row.generation) for row in rows]
