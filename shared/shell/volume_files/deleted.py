"""Refuse to import from a volume whose files are being deleted.

Guaranteed: of the start of an import and the deletion of its volume one comes first, and the other one is refused: both
lock the volume's row, which is locked after the case and before imports.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import WrongStateError
from core.statuses import VolumeStatus

_VOLUME_ID = text("SELECT volume_id FROM imports WHERE id = :import_id")
_SHARE = text("SELECT status FROM volumes WHERE id = :volume_id LOCK IN SHARE MODE")


def refuse_without_volume(transaction: Session, import_id: int) -> None:
    """Keep the import's volume, if it has one, from being deleted until the transaction ends.

    Raises WrongStateError if it is deleted, or its deletion was requested.
    """
    volume_id = transaction.execute(_VOLUME_ID, {"import_id": import_id}).scalar()
    if volume_id is None:
        return
    status = transaction.execute(_SHARE, {"volume_id": volume_id}).scalar()
    if status in (VolumeStatus.DELETING, VolumeStatus.DELETED):
        raise WrongStateError("The files of the volume are deleted; upload it as a new volume and import that.")
