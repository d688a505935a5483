"""The capacity of the database's text columns, read from information_schema once per process.

The database is the authority, not the models: an operator may have widened a column or changed its character set.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

Limits = Mapping[str, "ColumnLimit"]

_COLUMNS = (
    "SELECT COLUMN_NAME AS name, DATA_TYPE AS type, CHARACTER_MAXIMUM_LENGTH AS characters, "
    "CHARACTER_OCTET_LENGTH AS bytes, CHARACTER_SET_NAME AS charset, COLLATION_NAME AS collation "
    "FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = :table AND CHARACTER_SET_NAME IS NOT NULL"
)


class ColumnLimit(NamedTuple):
    """The capacity of a text column: in characters for VARCHAR, in bytes for TEXT (the other is None)."""

    characters: int | None
    bytes: int | None
    charset: str
    collation: str

    @property
    def takes_four_bytes(self) -> bool:
        """Whether the column can store characters outside of the Basic Multilingual Plane."""
        return self.charset == "utf8mb4"


@lru_cache(maxsize=64)
def column_limits(table: str) -> Limits:
    """Return the limits of a table's text columns, by column name."""
    # Imported here: a preview, which has no database, coerces values to given limits.
    from sqlalchemy import text

    from shell.db.session import engine

    with engine().connect() as connection:
        rows = connection.execute(text(_COLUMNS), {"table": table}).all()
    return {row.name: _limit(row.type, row.characters, row.bytes, row.charset, row.collation) for row in rows}


def _limit(kind: str, characters: int, octets: int, charset: str, collation: str) -> ColumnLimit:
    if kind.lower() in ("varchar", "char"):
        return ColumnLimit(int(characters), None, charset, collation)
    return ColumnLimit(None, int(octets), charset, collation)
