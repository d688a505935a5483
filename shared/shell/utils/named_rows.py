"""Finding and adding rows that are known by a name within a case, in one statement for up to 5,000 names.

Guaranteed: the database decides which names are equal, by the column's collation; names are added in sorted order and
one that is there already is left as it is. Nothing here locks an existing row but to share it, so that a name on every
row of a load file does not make its writers wait for each other: whoever links to it shares it too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import DeclarativeBase, Session

from shell.utils.bulk_insert import insert_ignore
from shell.utils.column_limits import column_limits
from shell.utils.keys import refuse_unstorable

NAMES_A_STATEMENT = 5_000


class NamedRow(NamedTuple):
    """A row's id and its name as the database has it."""

    id: int
    name: str


def find_named(
    transaction: Session, case_id: int, wanted: Mapping[type[DeclarativeBase], Iterable[str]]
) -> dict[type[DeclarativeBase], dict[str, NamedRow]]:
    """The rows that the names mean, by model and by name as asked for; names that no row has are missing.

    One statement for all models and up to 5,000 names of each.
    """
    names = {model: sorted(set(asked)) for model, asked in wanted.items()}
    found: dict[type[DeclarativeBase], dict[str, NamedRow]] = {model: {} for model in wanted}
    for start in range(0, max(map(len, names.values()), default=0), NAMES_A_STATEMENT):
        part = {model: asked[start : start + NAMES_A_STATEMENT] for model, asked in names.items()}
        _find(transaction, case_id, {model: asked for model, asked in part.items() if asked}, found)
    return found


def _find(
    transaction: Session,
    case_id: int,
    names: Mapping[type[DeclarativeBase], list[str]],
    found: dict[type[DeclarativeBase], dict[str, NamedRow]],
) -> None:
    if names:
        models = list(names)
        lists = {f"names_{index}": json.dumps(names[model], ensure_ascii=False) for index, model in enumerate(models)}
        statement = " UNION ALL ".join(_equal_names(model, index) for index, model in enumerate(models))
        for row in transaction.execute(text(statement), {"case_id": case_id, **lists}):
            found[models[row.model]][row.wanted] = NamedRow(row.id, row.name)


def find_or_add_named(
    transaction: Session, model: type[DeclarativeBase], case_id: int, names: Iterable[str]
) -> dict[str, NamedRow]:
    """The rows that the names mean, by name as asked for; those that the case lacks are added.

    Four statements at most for up to 5,000 names. Raises InvalidInputError for one that its column cannot hold.
    """
    wanted = sorted(set(names))
    for name in wanted:
        refuse_unstorable(name, column_limits(model.__tablename__)["name"])
    found = find_named(transaction, case_id, {model: wanted})[model]
    missing = [(case_id, name) for name in wanted if name not in found]
    if missing:
        insert_ignore(transaction, model.__tablename__, ("case_id", "name"), missing, key=2)
        found = find_named(transaction, case_id, {model: wanted})[model]
    return found


def add_named(
    transaction: Session, model: type[DeclarativeBase], case_id: int, import_id: int, lines: Mapping[str, int]
) -> None:
    """Add the names that are not there yet, each with the import and line of its first sight.

    Another writer may have added one meanwhile. `ON DUPLICATE KEY UPDATE` would lock its row for itself alone, while
    links to it, which are written in another order, share it: a deadlock.
    """
    columns = ("case_id", "name", "import_id", "line_no")
    rows = [(case_id, name, import_id, line) for name, line in lines.items()]
    insert_ignore(transaction, model.__tablename__, columns, rows, key=2)


def _equal_names(model: type[DeclarativeBase], index: int) -> str:
    """Converted to the column's character set and collation, the wanted names reach its index."""
    limit = column_limits(model.__tablename__)["name"]
    # Table, character set and collation come from our models and the server's catalogue.
    return f"""
        SELECT {index} AS model, wanted.name AS wanted, found.id AS id, found.name AS name
        FROM JSON_TABLE(:names_{index}, '$[*]' COLUMNS (name VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$')) AS wanted
        JOIN {model.__tablename__} AS found
          ON found.case_id = :case_id
         AND found.name = CONVERT(wanted.name USING {limit.charset}) COLLATE {limit.collation}
    """  # noqa: S608
