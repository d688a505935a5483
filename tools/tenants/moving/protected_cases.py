"""Refuse to bring a tenant back to a moment at which a hold or a purge of a case was another one than it is now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tools.tenants.database import TenantToolError
from tools.tenants.moving.connection import Row, read_text
from tools.tenants.moving.row_files import read_rows
from tools.tenants.moving.tenant_rows import TenantRows

_COLUMNS = ("id", "held_at", "purge_after", "status")
_PURGED = frozenset({"purging", "purged"})
_FREE = (False, None, None)


def refuse_other_protection(rows: TenantRows, manifest: dict[str, Any], folder: Path) -> None:
    """Raise TenantToolError if a case of the database has not the hold and the purge that the export has.

    A hold that was placed since would be lost, a purge that was withdrawn would begin, and what was purged come back.
    """
    stated = manifest["tables"]["cases"]
    places = [stated["columns"].index(name) for name in _COLUMNS]
    exported = dict(
        _describe([row[place] for place in places]) for each in stated["files"] for row in read_rows(folder, each)
    )
    query = f"SELECT {', '.join(_COLUMNS)} FROM cases WHERE tenant_id = %s ORDER BY id"  # noqa: S608 - of constants
    here = dict(_describe(row) for row in rows.connection.read(query, (rows.tenant,)))
    changed = [case_id for case_id, state in here.items() if state != exported.get(case_id, _FREE)]
    if changed:
        raise TenantToolError(
            f"the hold or the purge of cases {', '.join(changed[:20])} is not what it was at the moment of the export. "
            "No row was changed. Choose another moment, or have an administrator of the tenant make them the same "
            "(place or lift the hold, request or withdraw the purge) while the tenant is active"
        )


def _describe(row: Row | list[bytes | None]) -> tuple[str, tuple[bytes | str | bool | None, ...]]:
    case_id, held_at, purge_after, status = row
    # A hold that is placed again to make both the same has another time.
    return read_text(case_id), (
        held_at is not None,
        purge_after,
        found if (found := read_text(status)) in _PURGED else None,
    )
