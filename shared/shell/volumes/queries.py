"""Read volumes and their files for the API.

Guaranteed: no call reads another tenant's rows, or those of a case that the caller is not limited to; pages follow
each other by key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.pages import ListQuery
from core.contracts.queries import VolumeQuery
from core.contracts.volumes import (
    LoadFileCandidate,
    Volume,
    VolumeDetails,
    VolumeFile,
    VolumeFilePage,
    VolumeImport,
    VolumePage,
)
from core.errors import NotFoundError
from core.imports.steps import choose_wish
from core.pagination import build_page, open_window
from core.volumes.discovery import DiscoveredFiles
from shell.case_state.fence import Entry, enter_case
from shell.db.keyset import window_values, write_window
from shell.db.session import session
from shell.exhibits.cases import WALL, WALL_CASES, find_chosen_case, wall_values
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names

_COLUMNS = "v.*, c.name AS case_name"
_VOLUMES = f"FROM volumes AS v JOIN cases AS c ON c.id = v.case_id WHERE v.tenant_id = :tenant_id AND {WALL}"
_ONE = text(f"SELECT {_COLUMNS} {_VOLUMES} AND v.id = :volume_id").bindparams(WALL_CASES)
_EXISTS = text(f"SELECT v.case_id {_VOLUMES} AND v.id = :volume_id").bindparams(WALL_CASES)
_IMPORTS = text(
    "SELECT id, kind, status, object_key, wanted, phase, options_version FROM imports "
    "WHERE volume_id = :volume_id ORDER BY id DESC LIMIT 100"
)
_HAS_IMPORTS = text("SELECT id FROM imports WHERE volume_id = :volume_id LIMIT 1")
_FILES = "SELECT file_no, path, size, version_id, md5, sha1, sha256 FROM volume_files WHERE volume_id = :volume_id"


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_volumes(caller: Caller, query: VolumeQuery) -> VolumePage:
    """Return a page of the tenant's volumes, newest first, optionally of one case.

    Raises NotFoundError if the tenant has no such case, InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    with session() as reading:
        case_id = find_chosen_case(reading, caller, query)
        source = _VOLUMES if case_id is None else f"{_VOLUMES} AND v.case_id = :case_id"
        given = {} if case_id is None else {"case_id": case_id}
        values = {"tenant_id": caller.tenant_id, **given, **wall_values(caller)}
        statement = text(f"SELECT {_COLUMNS} {source} {write_window(window, 'v.id')}").bindparams(WALL_CASES)
        rows = reading.execute(statement, {**values, **window_values(window)}).all()
        counted = text(f"SELECT COUNT(*) {source}").bindparams(WALL_CASES)
        total = reading.execute(counted, values).scalar_one() if query.count else None
        page = build_page(rows, window, lambda row: (row.id,))
        names = read_user_names(reading, caller.tenant_id, [row.user_id for row in page.items])
    items = [Volume(**_describe(row, names)) for row in page.items]
    return VolumePage(items=items, next=page.next, prev=page.prev, total=total)


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
    names = read_user_names(reading, caller.tenant_id, [row.user_id])
    candidates = [LoadFileCandidate(**each) for each in json.loads(row.candidates or "[]")]
    described = [_describe_import(each, row.prefix) for each in imports]
    return VolumeDetails(**_describe(row, names), candidates=candidates, imports=described)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_files(caller: Caller, volume_id: int, query: ListQuery) -> VolumeFilePage:
    """Return a page of the volume's files; raises the errors of `list_volumes`."""
    window = open_window(query, (int,))
    with session() as reading:
        require_volume(reading, caller, volume_id)
        values = {"volume_id": volume_id, **window_values(window)}
        rows = reading.execute(text(f"{_FILES} {write_window(window, 'file_no')}"), values).all()
    page = build_page(rows, window, lambda row: (row.file_no,))
    return VolumeFilePage(items=[_describe_file(row) for row in page.items], next=page.next, prev=page.prev)


def require_volume(reading: Session, caller: Caller, volume_id: int) -> int:
    """Return the id of the volume's case. Raises NotFoundError if the volume does not exist for the caller."""
    values = {"tenant_id": caller.tenant_id, "volume_id": volume_id, **wall_values(caller)}
    found: int | None = reading.execute(_EXISTS, values).scalar()
    if found is None:
        raise build_volume_not_found()
    return found


def enter_volume(
    transaction: Session, caller: Caller, volume_id: int, entry: Entry = Entry.CHANGE, *, alone: bool = False
) -> None:
    """Enter the volume's case (`shell.case_state.fence`). Raises the errors of `require_volume` and `enter_case`."""
    enter_case(transaction, require_volume(transaction, caller, volume_id), entry, alone=alone)


def has_imports(reading: Session, volume_id: int) -> bool:
    """Return whether an import of the volume was ever created."""
    return reading.execute(_HAS_IMPORTS, {"volume_id": volume_id}).first() is not None


def build_volume_not_found() -> NotFoundError:
    """Return the error for a volume that does not exist or belongs to another tenant."""
    return NotFoundError("You have no such volume; GET /volumes lists yours.")


def _describe(row: Any, names: Mapping[str, str]) -> dict[str, Any]:
    found = json.loads(row.load_files) if row.load_files else {}
    columns = ("id", "status", "case_id", "name", "user_id", "prefix", "files", "bytes", "ignored", "late_files")
    more = ("units", "units_left", "generation", "failure_code", "failure_message")
    return {
        **{name: getattr(row, name) for name in (*columns, *more)},
        "user_name": names.get(row.user_id),
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
    wanted = choose_wish(row.wanted, row.phase)
    return VolumeImport(
        id=row.id, kind=row.kind, path=path, status=row.status, wanted=wanted, options_version=row.options_version
    )


def _describe_file(row: Any) -> VolumeFile:
    hashes = {name: _hex(getattr(row, name)) for name in ("md5", "sha1", "sha256")}
    return VolumeFile(number=row.file_no, path=row.path, size=row.size, version_id=row.version_id, **hashes)


def _hex(value: Sequence[int] | None) -> str | None:
    return None if value is None else bytes(value).hex()
