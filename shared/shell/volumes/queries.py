"""Read volumes and their files for the API.

Guaranteed: no call reads another tenant's rows, or those of a case that the caller is not limited to; pages follow
each other by key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.volumes import Volume, VolumeDetails, VolumeFile, VolumeFilePage, VolumeImport, VolumePage
from core.errors import NotFoundError
from core.pagination import MAX_NUMBER, decode_cursor, paginate
from core.volumes.discovery import DiscoveredFiles
from shell.db.session import session
from shell.exhibits.cases import WALL, WALL_CASES, get_case_id, wall_values
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_COLUMNS = "v.*, c.name AS case_name"
_VOLUMES = f"FROM volumes AS v JOIN cases AS c ON c.id = v.case_id WHERE v.tenant_id = :tenant_id AND {WALL}"
_ONE = text(f"SELECT {_COLUMNS} {_VOLUMES} AND v.id = :volume_id").bindparams(WALL_CASES)
_EXISTS = text(f"SELECT v.id {_VOLUMES} AND v.id = :volume_id").bindparams(WALL_CASES)
_PAGE = f"SELECT {_COLUMNS} {_VOLUMES} AND v.id < :before {{filters}} ORDER BY v.id DESC LIMIT :most"
_IMPORTS = text(
    "SELECT id, kind, status, object_key FROM imports WHERE volume_id = :volume_id ORDER BY id DESC LIMIT 100"
)
_HAS_IMPORTS = text("SELECT id FROM imports WHERE volume_id = :volume_id LIMIT 1")
_FILES = text(
    "SELECT file_no, path, size, version_id, md5, sha1, sha256 FROM volume_files "
    "WHERE volume_id = :volume_id AND file_no >= :first ORDER BY file_no LIMIT :most"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_volumes(caller: Caller, case: str | None, limit: int, after: str | None) -> VolumePage:
    """Return a page of the tenant's volumes, newest first, optionally of one case.

    Raises NotFoundError if the tenant has no such case, InvalidInputError if `after` is not a valid cursor.
    """
    before = MAX_NUMBER if after is None else decode_cursor(after, (int,))[0]
    page = text(_PAGE.format(filters="" if case is None else "AND v.case_id = :case_id")).bindparams(WALL_CASES)
    with session() as reading:
        given = {} if case is None else {"case_id": get_case_id(reading, caller, case)}
        values = {"tenant_id": caller.tenant_id, "before": before, "most": limit + 1, **given, **wall_values(caller)}
        rows, cursor = paginate(reading.execute(page, values).all(), limit, lambda row: (row.id,))
    return VolumePage(items=[Volume(**_describe(row)) for row in rows], next=cursor)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_volume(caller: Caller, volume_id: int) -> VolumeDetails:
    """Return the volume and its imports. Raises NotFoundError if the tenant has no volume with this id."""
    with session() as reading:
        return read_details(reading, caller, volume_id)


def read_details(reading: Session, caller: Caller, volume_id: int) -> VolumeDetails:
    """Return the volume as the transaction sees it; raises the errors of `get_volume`."""
    values = {"tenant_id": caller.tenant_id, "volume_id": volume_id, **wall_values(caller)}
    row = reading.execute(_ONE, values).one_or_none()
    if row is None:
        raise build_volume_not_found()
    imports = reading.execute(_IMPORTS, {"volume_id": volume_id}).all()
    return VolumeDetails(**_describe(row), imports=[_describe_import(each, row.prefix) for each in imports])


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_files(caller: Caller, volume_id: int, limit: int, after: str | None) -> VolumeFilePage:
    """Return a page of the volume's files; raises the errors of `list_volumes`."""
    first = 0 if after is None else decode_cursor(after, (int,))[0] + 1
    with session() as reading:
        require_volume(reading, caller, volume_id)
        values = {"volume_id": volume_id, "first": first, "most": limit + 1}
        rows, cursor = paginate(reading.execute(_FILES, values).all(), limit, lambda row: (row.file_no,))
    return VolumeFilePage(items=[_describe_file(row) for row in rows], next=cursor)


def require_volume(reading: Session, caller: Caller, volume_id: int) -> None:
    """Raise NotFoundError if the volume does not exist for the caller."""
    values = {"tenant_id": caller.tenant_id, "volume_id": volume_id, **wall_values(caller)}
    if reading.execute(_EXISTS, values).first() is None:
        raise build_volume_not_found()


def has_imports(reading: Session, volume_id: int) -> bool:
    """Return whether an import of the volume was ever created."""
    return reading.execute(_HAS_IMPORTS, {"volume_id": volume_id}).first() is not None


def build_volume_not_found() -> NotFoundError:
    """Return the error for a volume that does not exist or belongs to another tenant."""
    return NotFoundError("You have no such volume; GET /volumes lists yours.")


def _describe(row: Any) -> dict[str, Any]:
    found = json.loads(row.load_files) if row.load_files else {}
    names = ("id", "status", "case_id", "name", "user_id", "prefix", "files", "bytes", "ignored", "late_files")
    more = ("units", "units_left", "generation", "failure_code", "failure_message")
    return {
        **{name: getattr(row, name) for name in (*names, *more)},
        "case": row.case_name,
        "kind": "files" if row.archive_key is None else "zip",
        "late_names": json.loads(row.late_names) if row.late_names else [],
        "load_file": found.get("load_file"),
        "image_load_file": found.get("image_load_file"),
        "image_load_files": DiscoveredFiles(**found).list_image_load_files() if found else [],
        "created_at": row.created_at.replace(tzinfo=UTC),
        "finished_at": _utc(row.finished_at),
    }


def _utc(value: datetime | None) -> datetime | None:
    return value and value.replace(tzinfo=UTC)


def _describe_import(row: Any, prefix: str) -> VolumeImport:
    # An error file of the volume was uploaded by itself.
    own = row.object_key.startswith(prefix)
    path = row.object_key.removeprefix(prefix) if own else row.object_key.rpartition("/")[2]
    return VolumeImport(id=row.id, kind=row.kind, path=path, status=row.status)


def _describe_file(row: Any) -> VolumeFile:
    hashes = {name: _hex(getattr(row, name)) for name in ("md5", "sha1", "sha256")}
    return VolumeFile(number=row.file_no, path=row.path, size=row.size, version_id=row.version_id, **hashes)


def _hex(value: Sequence[int] | None) -> str | None:
    return None if value is None else bytes(value).hex()
