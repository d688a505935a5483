"""Baselines: other ways to write the rows of an import to the same tables.

All of them get finished rows, in memory or as files: none fetches, decodes, parses, checks or accounts for rows. Each
writes to empty copies of the application's tables, with the same indexes and foreign keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pymysql
from sqlalchemy import and_, create_engine, insert, or_, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from benchmarks.database import Database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.usage import Usage, measure_usage
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits, Taggings

# Parents first.
TABLES = ("exhibits", "custodians", "tags", "custodian_exhibits", "taggings")
CHUNK_ROWS = 1_000
Values = dict[str, Any]
# Each kind of name: its table, the table of its links, and its column in that.
NAMED = ((Custodians, CustodianExhibits, "custodian_id"), (Tags, Taggings, "tag_id"))
_OF_IMPORT = {
    "exhibits": "SELECT * FROM exhibits WHERE import_id = :import_id ORDER BY id",
    "custodians": "SELECT * FROM custodians WHERE import_id = :import_id ORDER BY id",
    "tags": "SELECT * FROM tags WHERE import_id = :import_id ORDER BY id",
    "custodian_exhibits": (
        "SELECT link.* FROM custodian_exhibits AS link JOIN exhibits ON exhibits.id = exhibit_id "
        "WHERE import_id = :import_id ORDER BY exhibit_id, custodian_id"
    ),
    "taggings": (
        "SELECT link.* FROM taggings AS link JOIN exhibits ON exhibits.id = exhibit_id "
        "WHERE import_id = :import_id ORDER BY exhibit_id, tag_id"
    ),
}


@dataclass(frozen=True)
class Chunk:
    """A chunk of exhibits, and their (control number, name, user) by table of names."""

    case_id: int
    exhibits: Sequence[Values]
    names: Mapping[str, Sequence[tuple[str, str, str]]]


@dataclass(frozen=True)
class FinishedRows:
    """All rows of an import, by table and in the order of their keys, and the same rows as files for LOAD DATA."""

    rows: Mapping[str, Sequence[Values]]
    files: Mapping[str, Path]
    chunks: Sequence[Chunk]

    @classmethod
    def read(cls, database: Database, import_id: int, folder: Path, chunk_rows: int = CHUNK_ROWS) -> FinishedRows:
        """Read the rows of an import and write the files; a chunk has `chunk_rows` exhibits."""
        rows = {
            table: [dict(row._mapping) for row in database.query(statement, import_id=import_id)]
            for table, statement in _OF_IMPORT.items()
        }
        files = {table: folder / f"{table}.tsv" for table in rows}
        for table, path in files.items():
            path.write_text("".join(map(_format_line, rows[table])), encoding="utf-8", newline="")
        return cls(rows, files, _chunks(rows, chunk_rows))


def _format_line(row: Values) -> str:
    return "\t".join(map(_format_field, row.values())) + "\n"


def _format_field(value: Any) -> str:
    if value is None:
        return r"\N"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


@contextmanager
def temporary_tables(database: Database) -> Iterator[str]:
    """Create a schema with empty copies of the tables for the block and yield its URL."""
    source = make_url(database.environment["DATABASE_URL"])
    copy = source.set(database=f"{source.database}_baseline")
    database.query(f"CREATE DATABASE {copy.database} CHARACTER SET utf8mb4")
    try:
        engine = create_engine(copy)
        with engine.begin() as connection:
            for table in TABLES:
                connection.exec_driver_sql(str(database.query(f"SHOW CREATE TABLE {table}")[0][1]))
        engine.dispose()
        yield copy.render_as_string(hide_password=False)
    finally:
        database.query(f"DROP DATABASE {copy.database}")


def load_data(url: str, finished: FinishedRows) -> None:
    """Write all rows with LOAD DATA: a statement per table, in one transaction."""
    address = make_url(url)
    connection = pymysql.connect(
        host=address.host,
        port=address.port or 3306,
        user=address.username,
        password=address.password or "",
        database=address.database,
        charset="utf8mb4",
        local_infile=True,
    )
    with connection, connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(_build_statement(table, finished))
        connection.commit()


def _build_statement(table: str, finished: FinishedRows) -> str:
    names = list(finished.rows[table][0])
    # The binary column is written as hexadecimal digits, because the file is text.
    columns = ", ".join("@row_hash" if name == "row_hash" else name for name in names)
    unhex = "SET row_hash = UNHEX(@row_hash)" if "row_hash" in names else ""
    return (
        f"LOAD DATA LOCAL INFILE '{finished.files[table]}' INTO TABLE {table} CHARACTER SET utf8mb4 ({columns}) {unhex}"
    )


def pattern_bulk(url: str, finished: FinishedRows) -> None:
    """Write all rows with the published pattern's bulk code: a transaction per chunk, INSERT IGNORE for links."""
    engine = create_engine(url, isolation_level="READ COMMITTED")
    for chunk in finished.chunks:
        with Session(engine) as session, session.begin():
            _write_pattern_chunk(session, chunk)
    engine.dispose()


def _write_pattern_chunk(session: Session, chunk: Chunk) -> None:
    stored = save_exhibits(session, chunk)
    for model, link, column in NAMED:
        names = chunk.names[model.__tablename__]
        ids = {name: insert_or_get(session, model, chunk.case_id, name) for name in sorted({n for _, n, _ in names})}
        save_links(
            session,
            link,
            [{"exhibit_id": stored[number], column: ids[name], "user_id": user} for number, name, user in names],
        )


def save_exhibits(session: Session, chunk: Chunk) -> dict[str, int]:
    """Insert new exhibits by bulk_save_objects; return the ids by control number, read by an OR of ANDs."""
    keys = or_(
        *(
            and_(Exhibits.case_id == row["case_id"], Exhibits.control_number == row["control_number"])
            for row in chunk.exhibits
        )
    )
    existing = {row.control_number for row in session.execute(select(Exhibits.control_number).where(keys))}
    session.bulk_save_objects([Exhibits(**row) for row in chunk.exhibits if row["control_number"] not in existing])
    return {
        row.control_number: row.id for row in session.execute(select(Exhibits.control_number, Exhibits.id).where(keys))
    }


def insert_or_get(session: Session, model: Any, case_id: int, name: str) -> int:
    """Return the id of a name: an INSERT in a SAVEPOINT, or a SELECT where the name exists."""
    try:
        with session.begin_nested():
            row = model(case_id=case_id, name=name)
            session.add(row)
        return int(row.id)
    except IntegrityError:
        return int(session.execute(select(model.id).filter_by(case_id=case_id, name=name)).scalar_one())


def save_links(session: Session, link: Any, rows: Sequence[Values]) -> None:
    """Insert links with INSERT IGNORE."""
    session.execute(insert(link).prefix_with("IGNORE"), rows)


def orm_tutorial(url: str, finished: FinishedRows) -> None:
    """Write all rows as in the ORM's tutorial: a transaction per chunk, an object for every row."""
    engine = create_engine(url, isolation_level="READ COMMITTED")
    known: dict[tuple[str, str], int] = {}
    for chunk in finished.chunks:
        with Session(engine) as session, session.begin():
            _write_orm_chunk(session, chunk, known)
    engine.dispose()


def _write_orm_chunk(session: Session, chunk: Chunk, known: dict[tuple[str, str], int]) -> None:
    exhibits = {row["control_number"]: Exhibits(**row) for row in chunk.exhibits}
    session.add_all(exhibits.values())
    for model, _, _ in NAMED:
        kind = model.__tablename__
        new = {
            name: model(case_id=chunk.case_id, name=name)
            for _, name, _ in chunk.names[kind]
            if (kind, name) not in known
        }
        session.add_all(new.values())
        session.flush()
        known.update({(kind, name): row.id for name, row in new.items()})
    for model, link, column in NAMED:
        kind = model.__tablename__
        session.add_all(
            link(exhibit_id=exhibits[number].id, user_id=user, **{column: known[kind, name]})
            for number, name, user in chunk.names[kind]
        )


def _chunks(rows: Mapping[str, Sequence[Values]], size: int) -> list[Chunk]:
    numbers = {row["id"]: row["control_number"] for row in rows["exhibits"]}
    links: dict[str, dict[str, list[tuple[str, str, str]]]] = {}
    for model, link, column in NAMED:
        names = {row["id"]: row["name"] for row in rows[model.__tablename__]}
        by_number = links.setdefault(model.__tablename__, {})
        for row in rows[link.__tablename__]:
            number = numbers[row["exhibit_id"]]
            by_number.setdefault(number, []).append((number, names[row[column]], row["user_id"]))
    chunks = [rows["exhibits"][start : start + size] for start in range(0, len(rows["exhibits"]), size)]
    return [
        Chunk(
            chunk[0]["case_id"],
            [_without_id(row) for row in chunk],
            {kind: [each for row in chunk for each in of.get(row["control_number"], ())] for kind, of in links.items()},
        )
        for chunk in chunks
    ]


def _without_id(row: Values) -> Values:
    return {name: value for name, value in row.items() if name not in ("id", "version")}


Baseline = Callable[[str, FinishedRows], None]


def measure_baseline(baseline: Baseline, database: Database, finished: FinishedRows) -> Usage:
    """Return what a baseline takes on empty tables.

    Raises BenchmarkError unless the tables then have as many rows as after the import.
    """
    with temporary_tables(database) as url:
        usage = measure_usage(database, lambda: baseline(url, finished))
        _check_counts(database, str(make_url(url).database), finished, baseline.__name__)
    return usage


def _check_counts(database: Database, schema: str, finished: FinishedRows, baseline: str) -> None:
    for table, rows in finished.rows.items():
        count = database.query(f"SELECT COUNT(*) FROM {schema}.{table}")[0][0]  # noqa: S608 - our own names
        if count != len(rows):
            raise BenchmarkError(
                f"{baseline} left {count} rows in {table}, but the import {len(rows)}; the rates cannot be compared"
            )
