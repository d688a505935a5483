"""Code of an earlier revision, at work on a database that is migrated behind its back: it inserts, and reads.

Rows are made from what the server says of its tables: a value for each column that has to have one. Where no unique key
asks for more, all rows of a table have the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, Connection, Engine, MetaData, Table, insert, inspect, select

ROWS = 3
BEGIN = datetime(2026, 1, 1)
# Behind what migrations insert themselves.
FIRST_NUMBER = 100

Rows = dict[str, list[tuple[Any, ...]]]


class OldCode:
    """Knows the tables as they are when it is made."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        known = MetaData()
        known.reflect(engine, only=lambda name, _: name != "alembic_version")
        self._tables = known.sorted_tables
        self._unique = {table.name: _unique_columns(engine, table) for table in self._tables}
        self._number = FIRST_NUMBER

    def insert(self) -> None:
        """Some rows into every table, each naming what it has to and nothing else; their ids are the server's."""
        ids: dict[str, list[Any]] = {table.name: [] for table in self._tables}
        with self._engine.connect() as connection:
            for place in range(ROWS):
                self._number += 1
                for table in self._tables:
                    ids[table.name].append(self._inserted(connection, table, place, ids))

    def _inserted(self, connection: Connection, table: Table, place: int, ids: dict[str, list[Any]]) -> Any:
        values = dict(self._values(table, place, ids))
        key = connection.execute(insert(table).values(values)).inserted_primary_key
        return key[0] if key else None

    def _values(self, table: Table, place: int, ids: dict[str, list[Any]]) -> Iterator[tuple[str, Any]]:
        for index, column in enumerate(table.columns):
            if column.nullable or column.server_default is not None or column is table.autoincrement_column:
                continue
            parent = next((key.column.table.name for key in column.foreign_keys), None)
            if parent is not None:
                yield column.name, ids[parent][place]
            else:
                number = self._number if column.name in self._unique[table.name] else 1
                yield column.name, _value(column, number, index)

    def rows(self) -> Rows:
        """All that it knows of, in the order of the primary keys."""
        with self._engine.connect() as connection:
            return {
                table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
                for table in self._tables
            }


def _unique_columns(engine: Engine, table: Table) -> set[str]:
    unique = [each["column_names"] for each in inspect(engine).get_indexes(table.name) if each["unique"]]
    return {str(name) for names in unique for name in names} | {column.name for column in table.primary_key}


def _value(column: Column[Any], number: int, index: int) -> Any:
    """A value of the column's type; of two moments in one row the later one stands in the later column."""
    kind = column.type.python_type
    if kind is datetime:
        return BEGIN + timedelta(days=number, minutes=index)
    if kind is bytes:
        return number.to_bytes(getattr(column.type, "length", None) or 8, "big")
    return kind(number)
