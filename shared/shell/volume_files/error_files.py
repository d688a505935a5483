"""Import an error file against the volume whose rejected rows or lines it has.

Guaranteed: the volume is one of the tenant and the case of the import, and cannot be deleted once the import is bound
to it: both lock the volume's row. From then on the import is one of the volume, for its files, its undo and its report.
"""

from __future__ import annotations

import json
from dataclasses import replace

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import FileFailure
from core.errors import FileRefusedError, NotFoundError, WrongStateError
from core.file_options import FileOptions, VolumeUse
from core.statuses import ImportKind, VolumeStatus
from shell.db.session import session
from shell.tables.imports import Imports
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_SHARE = text(
    "SELECT status FROM volumes WHERE id = :volume_id AND tenant_id = :tenant_id AND case_id = :case_id "
    "LOCK IN SHARE MODE"
)
_BIND = text("UPDATE imports SET volume_id = :volume_id WHERE id = :import_id")


def require_volume(transaction: Session, tenant_id: str, case_id: int, volume_id: int) -> None:
    """Keep a volume from being deleted until the transaction ends, for an import of an error file.

    Raises NotFoundError unless it is one of the case, WrongStateError unless it is ready.
    """
    place = {"volume_id": volume_id, "tenant_id": tenant_id, "case_id": case_id}
    status = transaction.execute(_SHARE, place).scalar()
    if status is None:
        raise NotFoundError(
            f"The case has no volume {volume_id}, which the options name; import the error file into the case of its "
            "volume, with the options.json beside it."
        )
    if status in (VolumeStatus.DELETING, VolumeStatus.DELETED):
        raise WrongStateError(
            f"The files of volume {volume_id}, which the options name, are deleted; upload the volume again, and "
            "import it with the mode append_overlay."
        )
    if status != VolumeStatus.READY:
        raise WrongStateError(
            f"Volume {volume_id}, which the options name, has the status {status}; wait until it is ready."
        )


def bind_to_volume(import_record: Imports, volume: VolumeUse | None) -> None:
    """Make an import that names a volume one of that volume; raise FileRefusedError (BAD_OPTIONS) if it cannot be."""
    if volume is None:
        return
    try:
        _bind(import_record, volume.id)
    except (NotFoundError, WrongStateError) as refused:
        raise FileRefusedError(FileFailure.BAD_OPTIONS, str(refused)) from refused
    import_record.volume_id = volume.id


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _bind(import_record: Imports, volume_id: int) -> None:
    with session() as transaction:
        require_volume(transaction, import_record.tenant_id, import_record.case_id, volume_id)
        transaction.execute(_BIND, {"import_id": import_record.id, "volume_id": volume_id})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def describe_volume(import_record: Imports, files: FileOptions) -> VolumeUse | None:
    """Return the option by which the error file of an import names its volume; None for one that is not of a volume."""
    if import_record.volume_id is None:
        return None
    with session() as reading:
        volume = reading.get_one(Volumes, import_record.volume_id)
        found = json.loads(volume.load_files or "{}")
        given = files.volume or VolumeUse(volume.id, found.get("load_file"), found.get("image_load_file"))
        own = find_load_file(volume, import_record, files) or None
    is_images = import_record.kind == ImportKind.IMAGES
    return replace(given, image_load_file=own) if is_images else replace(given, load_file=own)


def find_load_file(volume: Volumes, import_record: Imports, files: FileOptions) -> str:
    """Return the path in the volume of the load file that the import is of, or of that whose error file it is of."""
    if import_record.object_key.startswith(volume.prefix):
        return import_record.object_key.removeprefix(volume.prefix)
    name = "image_load_file" if import_record.kind == ImportKind.IMAGES else "load_file"
    given = getattr(files.volume, name, None)
    return str(given or json.loads(volume.load_files or "{}").get(name) or "")
