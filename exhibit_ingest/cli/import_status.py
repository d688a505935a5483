"""The state of imports in the database: all SQL of the command.

Guarantees that it only reads, in autocommit, so that every query sees the latest committed state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from pymysql import MySQLError

from core.load_file.layout import Layout
from exhibit_ingest.undo.resuming import OpenUndo
from local.services.mysql_connection import connect

_FINISHED = ("completed", "completed_with_rejections", "checked")
_FAILED = ("failed", "cancelled", "blocked")

_FIND = (
    "SELECT id, status, failure_code, failure_message, rows_seen, imported, unchanged, updated, rejected, warnings,"
    " custodians_created, tags_created, encoding, delimiter, qualifier, generation, reports_generation,"
    " profile_name, profile_version, corrects_import_id,"
    " IF(status = 'splitting', (SELECT MIN(other.id) FROM imports AS other"
    " WHERE other.case_id = imports.case_id AND other.status = 'undoing'), NULL) AS waits_for_undo_of"
    " FROM imports WHERE bucket = %s AND object_key = %s ORDER BY id DESC LIMIT 1"
)
_REFUSAL = (
    "SELECT JSON_UNQUOTE(JSON_EXTRACT(payload, '$.reason')) AS reason FROM outbox_events"
    " WHERE aggregate_type = 'upload' AND aggregate_id = %s AND event_type = 'upload.refused' ORDER BY id DESC LIMIT 1"
)
_KEY_CHARACTERS_OF_AN_EVENT = 64
_COUNTS_OF_CHUNKS = (
    "SELECT COALESCE(SUM(imported), 0) AS imported, COALESCE(SUM(unchanged), 0) AS unchanged,"
    " COALESCE(SUM(updated), 0) AS updated, COALESCE(SUM(rejected), 0) AS rejected,"
    " COALESCE(SUM(warnings), 0) AS warnings FROM import_chunks WHERE import_id = %s"
)
# A row can have several reasons of one code.
_REJECTED_BY_CODE = (
    "SELECT code, SUM(count) AS count FROM (SELECT code, MAX(row_count) AS count FROM import_rejections"
    " WHERE import_id = %s GROUP BY code, line_no) AS by_line GROUP BY code ORDER BY code"
)
_WARNINGS_BY_CODE = (
    "SELECT code, COUNT(*) AS count FROM import_warnings WHERE import_id = %s GROUP BY code ORDER BY code"
)
_CHECK = (
    "SELECT would_import AS imported, would_update AS updated, unchanged, would_reject AS rejected, warnings,"
    " new_custodians, new_tags, updates,"
    " findings, IF(report_written, generation, 0) AS reports_generation FROM import_checks WHERE import_id = %s"
)
_PAGES = (
    "SELECT SUM(JSON_EXTRACT(counts, '$.lines')) AS lines_seen, SUM(JSON_EXTRACT(counts, '$.pages')) AS imported,"
    " SUM(JSON_EXTRACT(counts, '$.lines_rejected')) AS rejected,"
    " SUM(JSON_EXTRACT(counts, '$.documents')) AS documents,"
    " SUM(JSON_EXTRACT(counts, '$.missing_images')) AS missing_images"
    " FROM import_chunk_files WHERE import_id = %s"
)
_STORED_PATHS = (
    "SELECT SUM(named_natives) AS natives, SUM(named_texts) AS texts FROM import_chunks WHERE import_id = %s"
)
_LAYOUT = "SELECT layout FROM imports WHERE id = %s"
_UNFINISHED = (
    "SELECT id, tenant_id, status, COUNT(*) OVER () AS total FROM imports"
    " WHERE status IN ('awaiting_upload', 'waiting', 'splitting', 'checking', 'running') ORDER BY id LIMIT %s"
)
_OPEN_UNDOS = (
    "SELECT u.import_id, i.tenant_id, i.case_id, u.dry_run FROM import_undos AS u JOIN imports AS i"
    " ON i.id = u.import_id WHERE u.status IN ('requested', 'running') ORDER BY u.import_id, u.undo_no"
)
_CASE_NAMES = "SELECT name FROM cases WHERE tenant_id = %s"
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
    """The state of one import; while it runs, its counts are the sums over the completed chunks.

    `waits_for_undo_of` is an import of the case that is being undone: until that has ended, this one is not registered,
    unless it is a check.
    """

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
    new_custodians: int | None = None
    new_tags: int | None = None
    findings: str | None = None
    updates: str | None = None
    profile_name: str | None = None
    profile_version: int | None = None
    waits_for_undo_of: int | None = None
    corrects_import_id: int | None = None

    @property
    def failed(self) -> bool:
        """Whether the import failed or was cancelled, or the import that it comes after did."""
        return self.status in _FAILED

    @property
    def ended(self) -> bool:
        """Whether the import or its check completed, or it failed, was cancelled or is blocked."""
        return self.failed or self.status in _FINISHED

    @property
    def has_reports(self) -> bool:
        """Whether the reports of its last generation are written."""
        return self.reports_generation >= self.generation

    @property
    def finished(self) -> bool:
        """Whether the import failed, or completed with its reports written."""
        return self.failed or (self.ended and self.has_reports)

    @property
    def rows_imported(self) -> int:
        """Number of rows whose values are in the database: imported, unchanged or updated."""
        return self.imported + self.unchanged + self.updated

    @property
    def rows_processed(self) -> int:
        """Number of rows that are imported, unchanged, updated or rejected."""
        return self.rows_imported + self.rejected


@dataclass(frozen=True)
class CodeCounts:
    """How many rows of an import were rejected, and how many warnings it has, by code.

    A row that was rejected for several reasons counts for each of them.
    """

    rejected: Mapping[str, int] = field(default_factory=dict)
    warnings: Mapping[str, int] = field(default_factory=dict)


class ImportProgressReader:
    """Reader of import states, with one database connection."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._connection = connect(database_url)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error the server may have closed it already.
        with contextlib.suppress(MySQLError):
            self._connection.close()

    def find(self, bucket: str, object_key: str) -> ImportProgress | None:
        """Return the state of an upload's import; None until start_import has registered it."""
        try:
            self._connection.ping(reconnect=False)
        except MySQLError:
            # The server has closed it, for example because it was idle for long.
            self._connection = connect(self._url)
        with self._connection.cursor() as cursor:
            cursor.execute(_FIND, (bucket, object_key))
            values = cursor.fetchone()
            if values is None:
                return None
            if values["status"] == "checked":
                cursor.execute(_CHECK, (values["id"],))
                values |= cursor.fetchone() or {}
            elif values["status"] not in _FINISHED:
                cursor.execute(_COUNTS_OF_CHUNKS, (values["id"],))
                values |= {name: int(count) for name, count in (cursor.fetchone() or {}).items()}
            return ImportProgress(**values)

    def find_refusal(self, object_key: str) -> str | None:
        """Return why the last upload under a key that begins like this one was refused; None if none was."""
        with self._connection.cursor() as cursor:
            cursor.execute(_REFUSAL, (object_key[:_KEY_CHARACTERS_OF_AN_EVENT],))
            found = cursor.fetchone()
            return found["reason"] if found else None

    def count_codes(self, import_id: int) -> CodeCounts:
        """Return the counts by code of an import that has finished."""
        counts = []
        with self._connection.cursor() as cursor:
            for statement in (_REJECTED_BY_CODE, _WARNINGS_BY_CODE):
                cursor.execute(statement, (import_id,))
                counts.append({row["code"]: int(row["count"]) for row in cursor.fetchall()})
        return CodeCounts(*counts)

    def count_pages(self, import_id: int) -> dict[str, int]:
        """Return what the chunks of an image load file had of pages."""
        with self._connection.cursor() as cursor:
            cursor.execute(_PAGES, (import_id,))
            return {name: int(count or 0) for name, count in (cursor.fetchone() or {}).items()}

    def count_stored_paths(self, import_id: int) -> dict[str, int]:
        """Return how many rows of a load file that is not one of a volume have the path of a native or text."""
        with self._connection.cursor() as cursor:
            cursor.execute(_STORED_PATHS, (import_id,))
            return {name: int(count) for name, count in (cursor.fetchone() or {}).items() if count}

    def list_case_names(self, tenant: str) -> list[str]:
        """Return the names of all cases of a tenant."""
        with self._connection.cursor() as cursor:
            cursor.execute(_CASE_NAMES, (tenant,))
            return [row["name"] for row in cursor.fetchall()]

    def read_layout(self, import_id: int) -> Layout | None:
        """Return how an import's file is read; None if the file is not split."""
        with self._connection.cursor() as cursor:
            cursor.execute(_LAYOUT, (import_id,))
            found = cursor.fetchone()
        return Layout.from_json(found["layout"]) if found and found["layout"] else None


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
