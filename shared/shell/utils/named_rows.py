"""Find and add rows that have a name within a case, in one statement for up to 5,000 names.

Guaranteed: the database decides which names are equal, by the column's collation; names are added in sorted order, and
an existing one is left as it is. An existing row gets at most a shared lock, so that a name on every row of a load file
does not make its writers wait for each other: inserting a link takes a shared lock too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import DeclarativeBase, Session

from core.errors import ConflictError
from shell.db.bulk_insert import insert_ignore
from shell.db.column_limits import column_limits
from shell.utils.key_validation import validate_key

NAMES_PER_STATEMENT = 5_000


class NamedRow(NamedTuple):
    """A row's id and its name as stored."""

    id: int
    name: str


def find_named(
    transaction: Session, case_id: int, names_by_model: Mapping[type[DeclarativeBase], Iterable[str]]
) -> dict[type[DeclarativeBase], dict[str, NamedRow]]:
    """Return the rows with these names, by model and by requested name; a name without a row is missing.

    One statement for all models and up to 5,000 names of each.
    """
    names = {model: sorted(set(requested)) for model, requested in names_by_model.items()}
    found: dict[type[DeclarativeBase], dict[str, NamedRow]] = {model: {} for model in names}
    for start in range(0, max(map(len, names.values()), default=0), NAMES_PER_STATEMENT):
        part = {model: requested[start : start + NAMES_PER_STATEMENT] for model, requested in names.items()}
        _find(transaction, case_id, {model: requested for model, requested in part.items() if requested}, found)
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
            found[models[row.model]][row.requested] = NamedRow(row.id, row.name)


def find_or_add_named(
    transaction: Session, model: type[DeclarativeBase], case_id: int, names: Iterable[str]
) -> dict[str, NamedRow]:
    """Return the rows with these names, by requested name; add those that the case does not have.

    At most four statements for up to 5,000 names. Raises InvalidInputError for a name that its column cannot hold, and
    ConflictError, to be retried, if a name that another transaction has just added cannot be read yet.
    """
    requested = sorted(set(names))
    for name in requested:
        validate_key(name, column_limits(model.__tablename__)["name"])
    found = find_named(transaction, case_id, {model: requested})[model]
    missing = [(case_id, name) for name in requested if name not in found]
    if missing:
        insert_ignore(transaction, model.__tablename__, ("case_id", "name"), missing, key=2)
        found = find_named(transaction, case_id, {model: requested})[model]
        if len(found) < len(requested):
            raise ConflictError(f"Rows of {model.__tablename__} were being added by another transaction; try again.")
    return found


def add_named(
    transaction: Session, model: type[DeclarativeBase], case_id: int, import_id: int, lines: Mapping[str, int]
) -> None:
    """Add the names that do not exist yet, each with the import and line where it first occurs.

    Another writer may have added one meanwhile. `ON DUPLICATE KEY UPDATE` would lock its row exclusively, while links
    to it, which are written in another order, take a shared lock: a deadlock.
    """
    columns = ("case_id", "name", "import_id", "line_no")
    rows = [(case_id, name, import_id, line) for name, line in lines.items()]
    insert_ignore(transaction, model.__tablename__, columns, rows, key=2)


def _equal_names(model: type[DeclarativeBase], index: int) -> str:
    """Return the SELECT for one model; names converted to the column's character set and collation use its index."""
    limit = column_limits(model.__tablename__)["name"]
    # Table, character set and collation come from the models and from information_schema.
    return f"""
        SELECT {index} AS model, requested.name AS requested, found.id AS id, found.name AS name
        FROM JSON_TABLE(:names_{index}, '$[*]' COLUMNS (name VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$')) AS requested
        JOIN {model.__tablename__} AS found
          ON found.case_id = :case_id
         AND found.name = CONVERT(requested.name USING {limit.charset}) COLLATE {limit.collation}
    """  # noqa: S608
