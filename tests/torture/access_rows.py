"""Every row of the database and whose it is, to be compared and put back.

A row is a tenant's where all that it refers to is. What is not provably one tenant's (a link of one's exhibit to the
other's tag) is among the rows that are nobody's, and so in what `rows_not_of` compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Engine, MetaData, Table, select, text

from tests.support.database import Toys

Row = Mapping[str, Any]
Rows = dict[str, list[Row]]
Sums = dict[str, int]
Owners = frozenset[str]

# A column that holds an id, and the table whose id it is.
REFERENCES = {
    "case_id": "cases",
    "import_id": "imports",
    "exhibit_id": "exhibits",
    "custodian_id": "custodians",
    "tag_id": "tags",
    "device_id": "devices",
    "production_id": "productions",
    "sequence_id": "bates_sequences",
    "destination_id": "insert_destinations",
}
_FIRST = (
    *("cases", "imports", "devices", "insert_destinations", "bates_sequences", "productions"),
    *("custodians", "tags", "exhibits"),
)
# Who waits for what, and what is published: no tenant's, and no answer tells of it.
NOBODYS = {"semaphores", "semaphore_holders", "outbox_state", "alembic_version"}


@lru_cache(maxsize=4)
def tables(engine: Engine) -> dict[str, Table]:
    """The tables as the database has them, whatever the application says of them; not NOBODYS, nor the tests' toys."""
    found = MetaData()
    found.reflect(engine)
    toys = set(Toys.metadata.tables)
    return {table.name: table for table in found.sorted_tables if table.name not in NOBODYS | toys}


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

    def put_back(self, engine: Engine, changed: Iterable[str]) -> None:
        """Make the tables hold what they held."""
        known = tables(engine)
        with engine.begin() as connection:
            connection.execute(text("SET FOREIGN_KEY_CHECKS = 0"))
            for name in changed:
                connection.execute(known[name].delete())
                if self.rows[name]:
                    connection.execute(known[name].insert(), [dict(row) for row in self.rows[name]])
            connection.execute(text("SET FOREIGN_KEY_CHECKS = 1"))


def rows_not_of(rows: Rows, tenant: str) -> Rows:
    """The rows that are not this tenant's alone."""
    return {table: [row for row, owners in found if owners != {tenant}] for table, found in _owned(rows).items()}


def unowned_tables(engine: Engine) -> list[str]:
    """Tables of which nothing here says whose their rows are."""
    return [
        name
        for name, table in tables(engine).items()
        if name not in _SPECIAL and not {"tenant_id", *REFERENCES} & set(table.columns.keys())
    ]


def _owned(rows: Rows) -> dict[str, list[tuple[Row, Owners]]]:
    known: dict[tuple[str, int], Owners] = {}
    found: dict[str, list[tuple[Row, Owners]]] = {}
    # What is referred to comes first; a table that refers to nothing has its tenant, or is a volume of a case.
    for table in (*_FIRST, *(name for name in rows if name not in _FIRST)):
        found[table] = [(row, frozenset(_owners(table, row, known))) for row in rows[table]]
        known |= {(table, row["id"]): owners for row, owners in found[table] if "id" in row}
    return found


def _owners(table: str, row: Row, known: Mapping[tuple[str, int], Owners]) -> Iterator[str]:
    if "tenant_id" in row:
        yield row["tenant_id"]
    for other, other_id in [*_references(row), *_SPECIAL.get(table, _nothing)(row)]:
        yield from known.get((other, other_id), {"nobody"})


def _references(row: Row) -> Iterator[tuple[str, int]]:
    for column, other in REFERENCES.items():
        if row.get(column) is not None:
            yield other, row[column]


def _nothing(_row: Row) -> Iterable[tuple[str, int]]:
    return ()


def _of_event(row: Row) -> Iterable[tuple[str, int]]:
    """An import's id, one with a chunk's number behind it, or a production's; a refused upload is nobody's."""
    if row["aggregate_type"] == "upload":
        return []
    kind = "productions" if row["aggregate_type"] == "production" else "imports"
    return [(kind, int(str(row["aggregate_id"]).partition("/")[0]))]


def _of_destination(row: Row) -> Iterable[tuple[str, int]]:
    """A volume is its case's."""
    return [("cases", int(str(row["name"]).split(":")[1]))]


_SPECIAL: dict[str, Callable[[Row], Iterable[tuple[str, int]]]] = {
    "outbox_events": _of_event,
    "insert_destinations": _of_destination,
}
