"""The state of imports in the database: all SQL of the command.

Guarantees that it only reads, in autocommit, so that every query sees the latest committed state.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sqlalchemy import NullPool, create_engine, text

_FINISHED = ("completed", "completed_with_rejections")
_FAILED = ("failed", "cancelled")

_FIND = text(
    "SELECT id, status, failure_code, failure_message, rows_seen, imported, unchanged, updated, rejected, warnings,"
    " custodians_created, tags_created, encoding, delimiter, qualifier, generation, reports_generation"
    " FROM imports WHERE bucket = :bucket AND object_key = :object_key ORDER BY id DESC LIMIT 1"
)
_COUNTS_OF_CHUNKS = text(
    "SELECT COALESCE(SUM(imported), 0) AS imported, COALESCE(SUM(unchanged), 0) AS unchanged,"
    " COALESCE(SUM(updated), 0) AS updated, COALESCE(SUM(rejected), 0) AS rejected,"
    " COALESCE(SUM(warnings), 0) AS warnings FROM import_chunks WHERE import_id = :id"
)
_UNFINISHED = text(
    "SELECT id, tenant_id, status, COUNT(*) OVER () AS total FROM imports"
    " WHERE status IN ('awaiting_upload', 'splitting', 'running') ORDER BY id LIMIT :limit"
)
_TIMEOUT_SECONDS = 2


@dataclass(frozen=True)
class Unfinished:
    """An import that has not finished, one of `total` in the whole database."""

    id: int
    tenant_id: str
    status: str
    total: int


@dataclass(frozen=True)
class ImportProgress:
    """The state of one import; while it runs, its counts are the sums over the completed chunks."""

    id: int
    status: str
    failure_code: str | None
    failure_message: str | None
    rows_seen: int
    imported: int
    unchanged: int
    updated: int
    rejected: int
    warnings: int
    custodians_created: int
    tags_created: int
    encoding: str | None
    delimiter: str | None
    qualifier: str | None
    generation: int
    reports_generation: int

    @property
    def failed(self) -> bool:
        """Whether the import failed or was cancelled."""
        return self.status in _FAILED

    @property
    def finished(self) -> bool:
        """Whether the import failed, or completed with its reports written."""
        return self.failed or (self.status in _FINISHED and self.reports_generation >= self.generation)

    @property
    def rows_processed(self) -> int:
        """Number of rows that are imported, unchanged, updated or rejected."""
        return self.imported + self.unchanged + self.updated + self.rejected


class ImportProgressReader:
    """Reader of import states, with one database connection."""

    def __init__(self, database_url: str) -> None:
        self._engine = create_engine(database_url, isolation_level="AUTOCOMMIT", pool_size=1, pool_pre_ping=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.dispose()

    def find(self, bucket: str, object_key: str) -> ImportProgress | None:
        """Return the state of an upload's import; None until start_import has registered it."""
        with self._engine.connect() as connection:
            row = connection.execute(_FIND, {"bucket": bucket, "object_key": object_key}).mappings().one_or_none()
            if row is None:
                return None
            values = dict(row)
            if values["status"] not in _FINISHED:
                counts = connection.execute(_COUNTS_OF_CHUNKS, {"id": values["id"]}).mappings().one()
                values |= {name: int(count) for name, count in counts.items()}
            return ImportProgress(**values)


def list_unfinished(database_url: str, limit: int) -> list[Unfinished]:
    """Return up to `limit` imports of all tenants that have not finished, by id.

    Raises SQLAlchemyError when the database does not answer within 2 seconds.
    """
    timeouts = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), _TIMEOUT_SECONDS)
    engine = create_engine(database_url, isolation_level="AUTOCOMMIT", poolclass=NullPool, connect_args=timeouts)
    with engine.connect() as connection:
        return [Unfinished(**row) for row in connection.execute(_UNFINISHED, {"limit": limit}).mappings()]
