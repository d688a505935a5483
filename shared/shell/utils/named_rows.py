"""Finding and adding rows that are known by a name within a case, in one statement for any number of names.

Guaranteed: the database decides which names are equal, by the column's collation; names are added in sorted order and
one that is there already is left as it is. Nothing here locks an existing row, so that a name on every row of a load
file does not make its writers wait for each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import DeclarativeBase, Session

from shell.utils.bulk_insert import insert_missing
from shell.utils.column_limits import column_limits


class NamedRow(NamedTuple):
    """A row's id and its name as the database has it."""

    id: int
    name: str


def find_named(
    session: Session, model: type[DeclarativeBase], case_id: int, names: Iterable[str]
) -> dict[str, NamedRow]:
    """The rows that the names mean, by name as asked for; names that no row has are missing."""
    wanted = sorted(set(names))
    if not wanted:
        return {}
    rows = session.execute(
        text(_equal_names(model)), {"names": json.dumps(wanted, ensure_ascii=False), "case_id": case_id}
    )
    return {row.wanted: NamedRow(row.id, row.name) for row in rows}


def add_named(
    session: Session, model: type[DeclarativeBase], case_id: int, import_id: int, lines: Mapping[str, int]
) -> None:
    """Add the names that are not there yet, each with the import and line of its first sight."""
    rows = [(case_id, name, import_id, line) for name, line in lines.items()]
    insert_missing(session, model, ("case_id", "name", "import_id", "line_no"), rows, key=2)


def _equal_names(model: type[DeclarativeBase]) -> str:
    """Converted to the column's character set and collation, the wanted names reach its index."""
    limit = column_limits(model.__tablename__)["name"]
    # Table, character set and collation come from our models and the server's catalogue.
    return f"""
        SELECT wanted.name AS wanted, found.id AS id, found.name AS name
        FROM JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$')) AS wanted
        JOIN {model.__tablename__} AS found
          ON found.case_id = :case_id
         AND found.name = CONVERT(wanted.name USING {limit.charset}) COLLATE {limit.collation}
    """  # noqa: S608
