"""What the database says about an import: all the SQL that the command needs.

Only reads, in autocommit; every answer is a fresh look.
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
_SETTLED = text(
    "SELECT COALESCE(SUM(imported), 0) AS imported, COALESCE(SUM(unchanged), 0) AS unchanged,"
    " COALESCE(SUM(updated), 0) AS updated, COALESCE(SUM(rejected), 0) AS rejected,"
    " COALESCE(SUM(warnings), 0) AS warnings FROM import_chunks WHERE import_id = :id"
)
_UNFINISHED = text(
    "SELECT id, tenant_id, status, COUNT(*) OVER () AS total FROM imports"
    " WHERE status IN ('awaiting_upload', 'splitting', 'running') ORDER BY id LIMIT :most"
)
_PATIENCE_SECONDS = 2


@dataclass(frozen=True)
class Unfinished:
    """An import that has not ended, one of `total` in the whole database."""

    id: int
    tenant_id: str
    status: str
    total: int


@dataclass(frozen=True)
class ImportState:
    """One look at one import; while it runs, the counts are those of the chunks that are settled."""

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
        """Whether nothing more will come of it."""
        return self.status in _FAILED

    @property
    def finished(self) -> bool:
        """Whether every row has its outcome and the reports are written, or it failed."""
        return self.failed or (self.status in _FINISHED and self.reports_generation >= self.generation)

    @property
    def rows_settled(self) -> int:
        """Rows that have their outcome."""
        return self.imported + self.unchanged + self.updated + self.rejected


class ImportStates:
    """Looks at imports through one connection."""

    def __init__(self, database_url: str) -> None:
        self._engine = create_engine(database_url, isolation_level="AUTOCOMMIT", pool_size=1, pool_pre_ping=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.dispose()

    def find(self, bucket: str, object_key: str) -> ImportState | None:
        """The import of an upload; None until its function has registered it."""
        with self._engine.connect() as connection:
            row = connection.execute(_FIND, {"bucket": bucket, "object_key": object_key}).mappings().one_or_none()
            if row is None:
                return None
            values = dict(row)
            if values["status"] not in _FINISHED:
                settled = connection.execute(_SETTLED, {"id": values["id"]}).mappings().one()
                values |= {name: int(count) for name, count in settled.items()}
            return ImportState(**values)


def unfinished(database_url: str, most: int) -> list[Unfinished]:
    """The first imports of all tenants that have not ended; raises SQLAlchemyError, and rather than wait long."""
    limits = dict.fromkeys(("connect_timeout", "read_timeout", "write_timeout"), _PATIENCE_SECONDS)
    engine = create_engine(database_url, isolation_level="AUTOCOMMIT", poolclass=NullPool, connect_args=limits)
    with engine.connect() as connection:
        return [Unfinished(**row) for row in connection.execute(_UNFINISHED, {"most": most}).mappings()]
