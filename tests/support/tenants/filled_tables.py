"""Rows in every table that moves with a tenant, with values that a careless copy would change."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from sqlalchemy import Column, Connection, Table, insert, text

from core.imports.uploads import build_upload_key
from shell.tables import metadata
from tools.tenants.moving.assignment import MOVED, TENANT, Scope

_TEXTS = ("", ' it\'s \\ a "text"\n\r\t\0\x1a\x7f\x85 ', "100% %s {0} \N{PILE OF POO} \u2028 é", "null", "NULL", "\\N")
_TIMES = (datetime(2026, 11, 27, 23, 59, 59, 999_999), datetime(1970, 1, 1, 0, 0, 0, 1), datetime(2000, 1, 1))
# Work that has ended; what a status may be is of no account for the copy.
_FIXED = {"status": "completed", "is_open": 0, "reports_generation": 9, "generation": 1}
_ROWS = 3
_FOUR_BYTES = "\N{PILE OF POO}"
# The columns of the deployment's character set may have three bytes a character.
_WIDE = text(
    "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = DATABASE() AND CHARACTER_SET_NAME = 'utf8mb4'"
)


class Filler:
    """Fills the tables for a tenant; `ids` are those that its rows have, by table."""

    def __init__(self, tenant: str, bucket: str, first_id: int, step: int) -> None:
        self.tenant, self.bucket = tenant, bucket
        self.ids: dict[str, list[int]] = {}
        self._next, self._step = first_id, step
        self._random = random.Random(tenant)
        self._wide: set[tuple[Any, ...]] = set()

    def fill(self, connection: Connection) -> None:
        """Insert the rows."""
        self._wide = {tuple(row) for row in connection.execute(_WIDE)}
        for scope in MOVED:
            table = metadata().tables[scope.table]
            rows = list(self._build_rows(scope, table))
            connection.execute(insert(table), rows)
            key = list(table.primary_key)
            if len(key) == 1 and key[0].name in ("id", "exhibit_id"):
                self.ids[scope.table] = [row[key[0].name] for row in rows]

    def _build_rows(self, scope: Scope, table: Table) -> Iterator[dict[str, Any]]:
        parents: list[Any] = [self.tenant] if scope.parent == TENANT else self.ids[scope.parent]
        # One row, where the parent is the whole key.
        is_alone = [column.name for column in table.primary_key] == [scope.column]
        for parent in parents:
            for index in range(1 if is_alone else _ROWS):
                row = {column.name: self._choose(column) for column in table.columns} | self._refer(table, index)
                yield self._place(scope, {**row, **({scope.column: parent} if scope.column in row else {})}, parent)

    def _place(self, scope: Scope, row: dict[str, Any], parent: Any) -> dict[str, Any]:
        """The row with what its place in the tenant decides."""
        if "end_at" in row:
            # A period ends after it begins.
            return {**row, "begin_at": _TIMES[1], "end_at": _TIMES[0]}
        if scope.table == "insert_destinations":
            return {**row, "name": f"volume:{parent}:V{self._number()}"}
        if scope.table == "imports":
            # Its file has arrived; the keys of the other imports are not those of a notification.
            key = build_upload_key(self.bucket, row["object_key"], "version", None)
            return {**row, "bucket": self.bucket, "version_id": "version", "upload_key": key}
        if scope.table == "idempotency_keys":
            title = f'\\"bucket\\":\\"{self.bucket}\\"'
            return {**row, "response_body": f'{{"id":1,"bucket":"{self.bucket}","title":"{title}"}}'}
        return row

    def _refer(self, table: Table, index: int) -> dict[str, Any]:
        """The columns with foreign keys."""
        keys = ((column.name, key.column.table.name) for column in table.columns for key in column.foreign_keys)
        return {name: self.ids[parent][index] for name, parent in keys if parent in self.ids}

    def _choose(self, column: Column[Any]) -> Any:
        if column.name in _FIXED:
            return _FIXED[column.name]
        kind = column.type.python_type
        if column.nullable and self._random.random() < 0.2:
            return None
        if kind is int:
            is_small = column.type.__class__.__name__ != "BIGINT" and "BIG" not in str(column.type)
            return self._number() % 30_000 if is_small and not column.primary_key else self._number()
        if kind is datetime:
            return self._random.choice(_TIMES)
        if kind is date:
            return date(2031, 1, 31)
        return self._choose_text(column) if kind is str else self._choose_bytes(column)

    def _choose_text(self, column: Column[Any]) -> str:
        length = getattr(column.type, "length", None) or 1_000
        collation = str(getattr(column.type, "collation", None) or "")
        unique = f"{self._number()}"
        more = "" if "ascii" in collation else self._random.choice(_TEXTS)
        if (column.table.name, column.name) not in self._wide:
            more = more.replace(_FOUR_BYTES, "")
        return (unique + more)[:length]

    def _choose_bytes(self, column: Column[Any]) -> bytes:
        length = getattr(column.type, "length", None) or 300
        return (self._random.randbytes(16) + bytes(range(256)))[:length]

    def _number(self) -> int:
        self._next += self._step
        return self._next
