"""Every row of the database, to be compared and put back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, Table, select, text, tuple_

from tests.support.application.driver import World
from tests.support.database.counted_database import Toys

Row = Mapping[str, Any]
Rows = dict[str, list[Row]]
Sums = dict[str, int]

# Who waits for what, and what is published: no tenant's, and no answer tells of it.
UNCOMPARED = {"semaphores", "semaphore_holders", "outbox_state", "alembic_version"}
# Not part of a random token, whose digits can be any tenant's.
_ID = re.compile(r"\b\d{7}\b")


@lru_cache(maxsize=4)
def tables(engine: Engine) -> dict[str, Table]:
    """Return the tables that the database has, without UNCOMPARED and the tests' toys."""
    found = MetaData()
    found.reflect(engine)
    toys = set(Toys.metadata.tables)
    return {table.name: table for table in found.sorted_tables if table.name not in UNCOMPARED | toys}


def sums(engine: Engine) -> Sums:
    """A number for the content of each table; equal contents have equal ones."""
    names = ", ".join(tables(engine))
    with engine.connect() as connection:
        return {str(row[0]).rpartition(".")[2]: row[1] for row in connection.execute(text(f"CHECKSUM TABLE {names}"))}


def rows_of(engine: Engine, names: Iterable[str]) -> Rows:
    """Every row of some tables."""
    known = tables(engine)
    with engine.connect() as connection:
        return {
            name: list(map(dict, connection.execute(select(known[name]).order_by(*known[name].primary_key)).mappings()))
            for name in names
        }


@dataclass(frozen=True)
class Kept:
    """What the tables held when they were looked at."""

    rows: Rows
    sums: Sums

    @classmethod
    def of(cls, engine: Engine) -> Kept:
        """As they are now."""
        return cls(rows_of(engine, tables(engine)), sums(engine))

    def changed(self, engine: Engine) -> Rows:
        """The tables that hold something else by now, with their rows."""
        now = sums(engine)
        return rows_of(engine, [name for name in now if now[name] != self.sums[name]])

    def put_back(self, engine: Engine) -> Rows:
        """Make the tables hold what they held; what was changed."""
        known, changed = tables(engine), self.changed(engine)
        if changed:
            with engine.begin() as connection:
                connection.execute(text("SET FOREIGN_KEY_CHECKS = 0"))
                for name, rows in changed.items():
                    _replace(connection, known[name], rows, self.rows[name])
                connection.execute(text("SET FOREIGN_KEY_CHECKS = 1"))
        return changed


def _replace(connection: Connection, table: Table, now: Sequence[Row], kept: Sequence[Row]) -> None:
    """Have the table hold the kept rows; those that are as they were stay."""
    columns = list(table.primary_key)
    assert columns, f"{table.name} has no primary key"
    of_now, of_kept = ({tuple(row[each.name] for each in columns): row for row in rows} for rows in (now, kept))
    if others := [key for key, row in of_now.items() if of_kept.get(key) != row]:
        connection.execute(table.delete().where(tuple_(*columns).in_(others)))
    if missing := [dict(row) for key, row in of_kept.items() if of_now.get(key) != row]:
        connection.execute(table.insert(), missing)


def rows_about(rows: Rows, tenant: str, ids: range) -> Rows:
    """The rows that are the tenant's, or in which one of the ids stands: links, events and counts too."""
    return {table: [row for row in found if _is_about(row, tenant, ids)] for table, found in rows.items()}


def _is_about(row: Row, tenant: str, ids: range) -> bool:
    said = " ".join(str(value) for value in row.values() if not isinstance(value, bytes))
    return row.get("tenant_id") == tenant or any(int(each) in ids for each in _ID.findall(said))


def claim_ids(world: World, ids: range) -> None:
    """From now on all rows get ids of the range."""
    counted = "SELECT table_name FROM information_schema.columns WHERE table_schema = DATABASE() AND extra LIKE :auto"
    for (table,) in world.query(counted, auto="%auto_increment%"):
        world.query(f"ALTER TABLE {table} AUTO_INCREMENT = {ids.start}")
