"""Read the rows of one tenant, table by table, whatever their number.

Guaranteed: each row of the tenant is read once, and none of another tenant. Memory holds a window of ids and one row;
the ids of cases, imports and the like are kept, those of documents and page sets are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from typing import NamedTuple, Self

from tools.tenants.moving.assignment import KEYS, LARGE, MOVED, TENANT, Scope
from tools.tenants.moving.connection import Connection, Row, read_text

_WINDOW = 500
_COLUMNS = (
    "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_KEY = 'PRI' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
    " AND TABLE_NAME = %s AND COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION"
)


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: str
    is_key: bool


class TenantRows:
    """The rows of a tenant in a database; `rows` must be read to its end before the next call."""

    def __init__(self, url: str, tenant: str) -> None:
        self.tenant = tenant
        with ExitStack() as opened:
            # Ids are read on a connection of their own, while the rows of their windows are.
            self.connection, self._ids = (opened.enter_context(Connection(url)) for _ in range(2))
            self._opened = opened.pop_all()
        self._known: dict[str, list[int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def list_columns(self, table: str) -> list[Column]:
        """Return the columns of a table that have values of their own."""
        rows = self.connection.read(_COLUMNS, (table,))
        return [Column(read_text(name), read_text(kind).lower(), key == b"1") for name, kind, key in rows]

    def stream_rows(self, scope: Scope, columns: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of a scope with these columns."""
        names = ", ".join(f"`{name}`" for name in columns)
        query = f"SELECT {names} FROM `{scope.table}` WHERE {{}} AND {scope.condition}"  # noqa: S608 - of the schema
        for condition in self.list_conditions(scope):
            yield from self.connection.stream(query.format(condition), (self.tenant,))

    def list_conditions(self, scope: Scope) -> Iterator[str]:
        """Yield conditions that together select the rows of a scope; each has a parameter, the tenant."""
        if scope.parent == TENANT:
            yield f"{scope.column} = %s"
            return
        ids = iter(self.list_ids(scope.parent))
        while window := list(islice(ids, _WINDOW)):
            # The tenant is named in each query, so that all have the same parameter.
            yield f"{scope.column} IN ({', '.join(map(str, window))}) AND %s IS NOT NULL"

    def list_ids(self, table: str) -> Iterable[int]:
        """Return the ids of the tenant's rows in a table that others refer to."""
        if table in LARGE:
            return self._stream_ids(table)
        if table not in self._known:
            self._known[table] = list(self._stream_ids(table))
        return self._known[table]

    def forget_ids(self) -> None:
        """Read ids again at the next call."""
        self._known.clear()

    def _stream_ids(self, table: str) -> Iterator[int]:
        scope, key = next(scope for scope in MOVED if scope.table == table), KEYS.get(table, "id")
        query = f"SELECT `{key}` FROM `{table}` WHERE {{}}"  # noqa: S608 - names of the schema
        found = (self._ids.stream(query.format(each), (self.tenant,)) for each in self.list_conditions(scope))
        return (int(read_text(value)) for (value,) in chain.from_iterable(found))
