"""The imports and undos of the database that have not ended, for a stack that starts or ends."""

from __future__ import annotations

from dataclasses import dataclass

from local.command.resuming import OpenUndo
from local.services.mysql_connection import connect

_UNFINISHED = (
    "SELECT id, tenant_id, status, COUNT(*) OVER () AS total FROM imports"
    " WHERE status IN ('awaiting_upload', 'waiting', 'splitting', 'checking', 'running') ORDER BY id LIMIT %s"
)
_OPEN_UNDOS = (
    "SELECT u.import_id, i.tenant_id, i.case_id, u.dry_run FROM import_undos AS u JOIN imports AS i"
    " ON i.id = u.import_id WHERE u.status IN ('requested', 'running') ORDER BY u.import_id, u.undo_no"
)
_TIMEOUT_SECONDS = 2


@dataclass(frozen=True)
class Unfinished:
    """An import that has not finished, one of `total` in the whole database."""

    id: int
    tenant_id: str
    status: str
    total: int


def list_unfinished(database_url: str, limit: int) -> list[Unfinished]:
    """Return up to `limit` imports of all tenants that have not finished, by id.

    Raises pymysql.Error when the database does not answer within 2 seconds.
    """
    timeouts = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), _TIMEOUT_SECONDS)
    with connect(database_url, **timeouts) as connection, connection.cursor() as cursor:
        cursor.execute(_UNFINISHED, (limit,))
        return [Unfinished(**row) for row in cursor.fetchall()]


def list_open_undos(database_url: str) -> list[OpenUndo]:
    """Return the undos of all tenants, and the dry runs of some, that have not ended, by import."""
    with connect(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(_OPEN_UNDOS)
        return [OpenUndo(**row | {"dry_run": bool(row["dry_run"])}) for row in cursor.fetchall()]
