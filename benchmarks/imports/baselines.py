"""Other ways of bringing the rows of an import into the same tables, for comparison.

All are given finished rows, in memory or as files: none of them fetches, decodes, parses, checks or accounts for
anything. Each has tables of its own, with the indexes and foreign keys of the application's, empty at the start.
"""

from __future__ import annotations

import time
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
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.names import Custodians, Tags

# Parents first.
TABLES = ("exhibits", "custodians", "tags", "custodian_exhibits", "taggings")
CHUNK_ROWS = 1_000
Values = dict[str, Any]
# Each kind of name: its table, that of its links, and what links call it.
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
    """Some exhibits, and their (control number, name, user) by kind of name."""

    case_id: int
    exhibits: Sequence[Values]
    names: Mapping[str, Sequence[tuple[str, str, str]]]


@dataclass(frozen=True)
class Finished:
    """All rows that an import produced, by table and in the order of their keys; the same as files for LOAD DATA."""

    rows: Mapping[str, Sequence[Values]]
    files: Mapping[str, Path]
    chunks: Sequence[Chunk]

    @classmethod
    def of(cls, database: Database, import_id: int, folder: Path, chunk_rows: int = CHUNK_ROWS) -> Finished:
        """Read what the import wrote, and write the files; a chunk has so many exhibits."""
        rows = {
            table: [dict(row._mapping) for row in database.query(statement, import_id=import_id)]
            for table, statement in _OF_IMPORT.items()
        }
        files = {table: folder / f"{table}.tsv" for table in rows}
        for table, path in files.items():
            path.write_text("".join(map(_as_line, rows[table])), encoding="utf-8", newline="")
        return cls(rows, files, _chunks(rows, chunk_rows))


def _as_line(row: Values) -> str:
    return "\t".join(map(_as_field, row.values())) + "\n"


def _as_field(value: Any) -> str:
    if value is None:
        return r"\N"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


@contextmanager
def own_tables(database: Database) -> Iterator[str]:
    """The address of a schema with empty copies of the tables."""
    ours = make_url(database.environment["DATABASE_URL"])
    theirs = ours.set(database=f"{ours.database}_rival")
    database.query(f"CREATE DATABASE {theirs.database} CHARACTER SET utf8mb4")
    try:
        made = create_engine(theirs)
        with made.begin() as connection:
            for table in TABLES:
                connection.exec_driver_sql(str(database.query(f"SHOW CREATE TABLE {table}")[0][1]))
        made.dispose()
        yield theirs.render_as_string(hide_password=False)
    finally:
        database.query(f"DROP DATABASE {theirs.database}")


def load_data(url: str, finished: Finished) -> None:
    """LOAD DATA, a statement for each table, all in one transaction."""
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
            cursor.execute(_load(table, finished))
        connection.commit()


def _load(table: str, finished: Finished) -> str:
    names = list(finished.rows[table][0])
    # A column of bytes comes as hexadecimal digits: the file is text in one character set.
    columns = ", ".join("@row_hash" if name == "row_hash" else name for name in names)
    unhex = "SET row_hash = UNHEX(@row_hash)" if "row_hash" in names else ""
    return (
        f"LOAD DATA LOCAL INFILE '{finished.files[table]}' INTO TABLE {table} CHARACTER SET utf8mb4 ({columns}) {unhex}"
    )


def pattern_bulk(url: str, finished: Finished) -> None:
    """The published pattern's bulk code: a transaction a chunk, of bulk_save_objects, OR of ANDs and INSERT IGNORE."""
    made = create_engine(url, isolation_level="READ COMMITTED")
    for chunk in finished.chunks:
        with Session(made) as session, session.begin():
            _pattern_chunk(session, chunk)
    made.dispose()


def _pattern_chunk(session: Session, chunk: Chunk) -> None:
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
    """The pattern's bulk_save_objects of what the case lacks; gives the ids by control number, read by OR of ANDs."""
    keys = or_(
        *(
            and_(Exhibits.case_id == row["case_id"], Exhibits.control_number == row["control_number"])
            for row in chunk.exhibits
        )
    )
    held = {row.control_number for row in session.execute(select(Exhibits.control_number).where(keys))}
    session.bulk_save_objects([Exhibits(**row) for row in chunk.exhibits if row["control_number"] not in held])
    return dict(session.execute(select(Exhibits.control_number, Exhibits.id).where(keys)).tuples().all())


def insert_or_get(session: Session, model: Any, case_id: int, name: str) -> int:
    """The pattern's id of a name: an INSERT in a SAVEPOINT, and where that is refused, the row that is there."""
    try:
        with session.begin_nested():
            row = model(case_id=case_id, name=name)
            session.add(row)
        return int(row.id)
    except IntegrityError:
        return int(session.execute(select(model.id).filter_by(case_id=case_id, name=name)).scalar_one())


def save_links(session: Session, link: Any, rows: Sequence[Values]) -> None:
    """The pattern's INSERT IGNORE."""
    session.execute(insert(link).prefix_with("IGNORE"), rows)


def plain_orm(url: str, finished: Finished) -> None:
    """An import as the ORM's tutorial would write it: a transaction a chunk, an object for every row."""
    made = create_engine(url, isolation_level="READ COMMITTED")
    known: dict[tuple[str, str], int] = {}
    for chunk in finished.chunks:
        with Session(made) as session, session.begin():
            _orm_chunk(session, chunk, known)
    made.dispose()


def _orm_chunk(session: Session, chunk: Chunk, known: dict[tuple[str, str], int]) -> None:
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


Rival = Callable[[str, Finished], None]


def seconds_of(rival: Rival, database: Database, finished: Finished) -> float:
    """How long it takes on empty tables; raises BenchmarkError unless they hold as many rows as ours then."""
    with own_tables(database) as url:
        began = time.perf_counter()
        rival(url, finished)
        seconds = time.perf_counter() - began
        _hold(database, str(make_url(url).database), finished, rival.__name__)
    return seconds


def _hold(database: Database, schema: str, finished: Finished, who: str) -> None:
    for table, rows in finished.rows.items():
        held = database.query(f"SELECT COUNT(*) FROM {schema}.{table}")[0][0]  # noqa: S608 - our own names
        if held != len(rows):
            raise BenchmarkError(f"{who} left {held} rows in {table}, the import {len(rows)}: no fair comparison")
