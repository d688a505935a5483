"""Create the imports of a volume's load files.

Guaranteed: one import for each load file and run of a volume, created in the transaction in which the volume becomes
ready. The imports of the image load files wait for that of the load file; their ids are in the order of their paths.
All are held if the request says so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.statuses import ImportKind, ImportPhase, ImportStatus, Wish
from core.volumes.discovery import DiscoveredFiles
from core.volumes.keys import build_import_key
from core.volumes.paths import fold_path, hash_path
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.volumes import Volumes

_FILE = text(
    "SELECT path, size, version_id, etag FROM volume_files "
    "WHERE volume_id = :volume_id AND path_hash = :path_hash ORDER BY file_no"
)


def create_imports(transaction: Session, volume: Volumes, found: DiscoveredFiles) -> Sequence[Imports]:
    """Create the imports of a volume that becomes ready, as its request says; return them.

    `found` are the paths of its load files. The caller has locked the volume's row.
    """
    rows: list[Imports] = []
    first = ImportStatus.UPLOADED if _is_held(volume) else ImportStatus.SPLITTING
    if found.load_file is not None:
        rows.append(_create(transaction, volume, found.load_file, ImportKind.ROWS, first))
    before = rows[0].id if rows else None
    for position, path in enumerate(found.list_image_load_files()):
        status = ImportStatus.WAITING if rows and first is ImportStatus.SPLITTING else first
        images = _create(transaction, volume, path, ImportKind.IMAGES, status, position)
        images.after_import_id = before
        rows.append(images)
    transaction.flush()
    return rows


def _create(
    transaction: Session, volume: Volumes, path: str, kind: ImportKind, status: ImportStatus, position: int = 0
) -> Imports:
    request = json.loads(volume.import_request or "{}")
    row = Imports(
        upload_key=build_import_key(volume.id, kind, volume.runs, position),
        tenant_id=volume.tenant_id,
        case_id=volume.case_id,
        bucket=settings().bucket,
        object_key=volume.prefix + path,
        file_name=path.rpartition("/")[2],
        volume_id=volume.id,
        kind=kind.value,
        status=status.value,
        wanted=Wish.HOLD.value if _is_held(volume) else None,
        phase=(ImportPhase.CHECK if request.get("dry_run", True) else ImportPhase.IMPORT).value,
        **{name: request[name] for name in ("user_id", "options", "profile_name", "profile_version")},
        **_find_version(transaction, volume, path),
    )
    transaction.add(row)
    transaction.flush()
    return row


def _is_held(volume: Volumes) -> bool:
    return bool(json.loads(volume.import_request or "{}").get("hold"))


def _find_version(transaction: Session, volume: Volumes, path: str) -> dict[str, Any]:
    """Return size, version and ETag of the file that is listed with this path."""
    values = {"volume_id": volume.id, "path_hash": hash_path(fold_path(path))}
    row = next(each for each in transaction.execute(_FILE, values) if each.path == path)
    return {"size": row.size, "version_id": row.version_id, "etag": row.etag}
