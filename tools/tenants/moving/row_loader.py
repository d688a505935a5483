"""Insert rows as the server has them, each once, whatever an interrupted attempt has left."""

from __future__ import annotations

import pymysql

from local.backup.dump import choose_quote, write_row
from tools.tenants.database import TenantToolError
from tools.tenants.moving.connection import Connection, Row, read_text
from tools.tenants.moving.tenant_rows import Column

DUPLICATE_ENTRY = 1062


class RowLoader:
    """Inserts rows of a table that are not there yet."""

    def __init__(self, database: Connection, table: str, columns: list[Column]) -> None:
        self.database, self._table = database, table
        self.names = [column.name for column in columns]
        self._keys = [place for place, column in enumerate(columns) if column.is_key]
        self._quotes = [choose_quote(column.kind) for column in columns]
        names = ", ".join(f"`{name}`" for name in self.names)
        self._insert = f"INSERT INTO `{table}` ({names}) VALUES ".encode()  # noqa: S608 - names of the schema
        key = ", ".join(f"`{self.names[place]}`" for place in self._keys)
        self._find = f"SELECT {names} FROM `{table}` WHERE ({key}) IN (".encode()  # noqa: S608 - names of the schema

    def load(self, batch: list[Row]) -> None:
        """Insert a batch at once, or, if a row of it is there, those that are missing.

        Raises TenantToolError if a row is there with other values, or conflicts with another row.
        """
        try:
            self.insert(batch)
        except pymysql.IntegrityError as exc:
            if exc.args[0] != DUPLICATE_ENTRY:
                raise
            found = self.find(batch)
            for row in batch:
                if found.get(self.get_key(row), row) != row:
                    raise self.build_conflict(row) from None
            missing = [row for row in batch if self.get_key(row) not in found]
            if missing and len(missing) == len(batch):
                raise self.build_conflict(batch[0]) from None
            self.load(missing)

    def insert(self, batch: list[Row]) -> None:
        """Insert rows in one statement: all of them, or none."""
        if batch:
            values = b",".join(write_row(row, self._quotes) for row in batch)
            self.database.send(self._insert + values)

    def find(self, batch: list[Row]) -> dict[Row, Row]:
        """Return the rows that are there with the keys of these, by key."""
        quotes = [self._quotes[place] for place in self._keys]
        keys = b",".join(write_row(self.get_key(row), quotes) for row in batch)
        return {self.get_key(row): row for row in self.database.read_literal(self._find + keys + b")")}

    def get_key(self, row: Row) -> Row:
        """Return the primary key of a row."""
        return tuple(row[place] for place in self._keys)

    def build_conflict(self, row: Row) -> TenantToolError:
        """Return the error for a row that the database has with other values."""
        key = ", ".join(repr(read_text(value)) for value in self.get_key(row))
        return TenantToolError(
            f"{self._table} has another row with the key {key} or a unique value of it; nothing was overwritten. If "
            "the tenant was here before, delete what it left by --replace"
        )
