"""Run the imports of a volume that are held or were checked: the data file first, then its images.

Guaranteed: both are decided and changed in one transaction, under the locks on their rows, the data file's first. The
images begin when the import of the data file has completed.
"""

from __future__ import annotations

from collections.abc import Container

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.checks import RunRequest
from core.contracts.volumes import VolumeDetails
from core.errors import WrongStateError
from core.statuses import ImportStatus
from shell.imports.state.access import refuse_during_undo
from shell.imports.state.dependents import refuse_beside_dependents
from shell.imports.steps import run_images, run_import
from shell.volume_files.deleted import refuse_without_volume
from shell.volumes.queries import enter_volume, read_details

# Those of the last request to import the volume: error files and corrections of it are imports of their own.
_LAST = text(
    "SELECT i.id, i.kind, i.after_import_id FROM imports AS i JOIN volumes AS v ON v.id = i.volume_id "
    "WHERE v.id = :volume_id AND LEFT(i.object_key, CHAR_LENGTH(v.prefix)) = v.prefix "
    "AND i.corrects_import_id IS NULL "
    "AND i.id >= (SELECT MAX(COALESCE(last.after_import_id, last.id)) FROM imports AS last WHERE last.volume_id = v.id "
    "AND last.corrects_import_id IS NULL AND LEFT(last.object_key, CHAR_LENGTH(v.prefix)) = v.prefix) ORDER BY i.id"
)
_LOCK = text("SELECT id, status FROM imports WHERE id = :import_id FOR UPDATE")
_HELD = (ImportStatus.UPLOADED, ImportStatus.CHECKED)


def run_volume(
    transaction: Session, caller: Caller, volume_id: int, body: RunRequest, versions: Container[int] | None = None
) -> VolumeDetails:
    """Run what is held or checked of a volume's last imports: the data file, then the images.

    Raises the errors of `shell.imports.steps.run_import`, for either file, and WrongStateError if nothing can be run.
    """
    enter_volume(transaction, caller, volume_id, alone=True)
    files = transaction.execute(_LAST, {"volume_id": volume_id}).all()
    if not files:
        raise WrongStateError("The volume has no imports yet; import it, and wait until it is ready.")
    first, images = files[0], [each.id for each in files if each.after_import_id is not None]
    refuse_during_undo(transaction, first.id)
    refuse_without_volume(transaction, first.id)
    status = transaction.execute(_LOCK, {"import_id": first.id}).one().status
    refuse_beside_dependents(transaction, first.id)
    ran = status in _HELD
    if ran:
        run_import(transaction, caller, first.id, body, versions)
    for image_id in images:
        ran |= run_images(transaction, caller, image_id, body)
    if not ran:
        raise WrongStateError(
            f"Import {first.id} of the volume has the status {status}, and nothing is held or checked; "
            "cancel or retry that one, or import the volume again."
        )
    return read_details(transaction, caller, volume_id)
