"""Two schemas of one server as the databases of two cells, and what each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import URL, Engine, create_engine

from local.backup.dump import Dump
from tests.support.servers.provisioned_servers import schema_beside
from tests.support.tenants.filled_tables import Filler
from tools.tenants.moving.assignment import MOVED, TABLES
from tools.tenants.moving.connection import Connection
from tools.tenants.moving.stacks import Stack
from tools.tenants.moving.tenant_rows import TenantRows

INCREMENT = 1_000
Rows = dict[str, Counter[tuple[bytes | None, ...]]]


def build_cell_url(url: URL, cell: int) -> str:
    """The URL of a schema whose connections issue the ids of a cell."""
    ids = f"SET SESSION auto_increment_increment = {INCREMENT}, auto_increment_offset = {cell + 1}"
    return url.update_query_dict({"init_command": ids}).render_as_string(hide_password=False)


@contextmanager
def same_schema(url: URL, name: str) -> Iterator[URL]:
    """An empty schema beside another one, with the same tables."""
    with schema_beside(url, name) as beside:
        copy_tables(url, beside)
        yield beside


def copy_tables(url: URL, beside: URL) -> None:
    """Create the tables of a schema in another one of its server, which is empty."""
    with Dump(url.render_as_string(hide_password=False)) as dump:
        statements = dump.describe()
    with Connection(beside.render_as_string(hide_password=False)) as database:
        database.execute("SET FOREIGN_KEY_CHECKS = 0")
        for statement in statements:
            database.execute(statement)
        database.execute("INSERT INTO alembic_version SELECT * FROM `" + str(url.database) + "`.alembic_version")
        database.execute("INSERT IGNORE INTO outbox_state (id, last_sequence) VALUES (1, 7)")


@dataclass
class Place:
    """A stack without functions: a database and a bucket."""

    url: URL
    cell: int
    bucket: str
    storage: str

    @cached_property
    def stack(self) -> Stack:
        """The stack as the commands have it."""
        return Stack(build_cell_url(self.url, self.cell), self.bucket, None, self.storage)

    @property
    def engine(self) -> Engine:
        """An engine of the schema."""
        return create_engine(self.url)

    def fill(self, tenant: str, first_id: int) -> Filler:
        """Give a tenant rows in every table."""
        filler = Filler(tenant, self.bucket, first_id, INCREMENT)
        engine = self.engine
        with engine.begin() as connection:
            filler.fill(connection)
            connection.exec_driver_sql("INSERT INTO tenants (tenant_id) VALUES (%s)", (tenant,))
        engine.dispose()
        return filler

    def query(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        with Connection(self.url.render_as_string(hide_password=False)) as database:
            return database.read(statement, values)

    def delete_a_row_of_each_table(self, tenant: str) -> None:
        """Have every table lack a row of a tenant."""
        with TenantRows(self.url.render_as_string(hide_password=False), tenant) as rows:
            rows.connection.execute("SET FOREIGN_KEY_CHECKS = 0")
            for scope in reversed(MOVED):
                condition = next(iter(rows.list_conditions(scope)))
                rows.connection.execute(f"DELETE FROM `{scope.table}` WHERE {condition} LIMIT 1", (tenant,))
                rows.forget_ids()

    def read(self, tenant: str) -> Rows:
        """All rows of a tenant, by table; what differs between stacks is left out."""
        with TenantRows(self.url.render_as_string(hide_password=False), tenant) as rows:
            return {table: Counter(self._read_table(rows, table)) for table in TABLES}

    def _read_table(self, rows: TenantRows, table: str) -> Iterator[tuple[bytes | None, ...]]:
        left_out = {"imports": ("bucket", "upload_key"), "insert_destinations": ("advisory_id",)}.get(table, ())
        names = [column.name for column in rows.list_columns(table) if column.name not in left_out]
        own = f'"bucket":"{self.bucket}"'.encode()
        for scope in (scope for scope in MOVED if scope.table == table):
            for row in rows.stream_rows(scope, names):
                yield tuple(value and value.replace(own, b'"bucket":""') for value in row)


class Interrupted(Exception):
    """Stands for the end of the process."""


class Interruptions:
    """Ends the process before or after the n-th statement that writes."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.at, self.after, self.count = at, after, 0

    def wrap(self, method: Any) -> Any:
        """The method of a connection, which ends the process at its turn."""

        def run(connection: Any, statement: Any, *values: Any) -> Any:
            text = statement if isinstance(statement, str) else bytes(statement[:20]).decode("latin-1")
            if not text.lstrip().startswith(("INSERT", "UPDATE", "DELETE")):
                return method(connection, statement, *values)
            self.count += 1
            if self.count == self.at and not self.after:
                raise Interrupted
            result = method(connection, statement, *values)
            if self.count == self.at:
                raise Interrupted
            return result

        return run
