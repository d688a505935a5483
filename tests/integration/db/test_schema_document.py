"""docs/schema.md says of the schema what the server says, and its questions have the answers that it shows."""

from __future__ import annotations

import csv
import json
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError

from core.caller import Caller
from core.contracts.productions import NewProduction
from shell.aws import clients
from shell.db.session import session
from shell.productions.commands import create_production
from tests.support.application.driver import World
from tests.support.database.counted_database import Database
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import execute

DOCUMENT = (Path(__file__).parents[3] / "docs" / "schema.md").read_text(encoding="utf-8")
QUESTIONS, VIEW, TABLES = (
    DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for title in ("Six questions", "The view `exhibit_list`", "Tables")
)
# A statement, the names of its result's columns, and the rows.
_ANSWERED = re.compile(r"^```sql\n(SELECT [^;]*);\n```\n\n\| (.*) \|\n\|[- |]+\|\n((?:\| .* \|\n)*)", re.MULTILINE)
_COLUMN = re.compile(r"^\| `(\w+)` \|(?: .*? \|)? (.*) \|$", re.MULTILINE)
_COMMENTS = """
    SELECT t.TABLE_NAME, t.TABLE_COMMENT, c.COLUMN_NAME, c.COLUMN_COMMENT
    FROM information_schema.TABLES AS t
    JOIN information_schema.COLUMNS AS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
    WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_TYPE = 'BASE TABLE'
    AND t.TABLE_NAME <> 'alembic_version' AND t.TABLE_NAME NOT LIKE 'toy%'
"""
ROOM = "SET SESSION group_concat_max_len = 16000000"
SET_BY_DEFAULT = "SET SESSION group_concat_max_len = 1024"
Rows = list[tuple[str, ...]]


def block(kind: str, part: str = DOCUMENT) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def answered() -> list[tuple[str, tuple[str, ...], Rows]]:
    return [
        (statement, tuple(names.split(" | ")), [tuple(line.strip("| ").split(" | ")) for line in rows.splitlines()])
        for statement, names, rows in _ANSWERED.findall(QUESTIONS + VIEW)
    ]


def shown(value: Any) -> str:
    """A value as a table of the document shows it."""
    return "NULL" if value is None else value.isoformat() if isinstance(value, date) else str(value)


def load(world: World, tenant: str) -> None:
    """Import the document's load file, as the command does."""
    key = f"imports/{tenant}/Smith v. Jones/{secrets.token_hex(8)}/review.csv"
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=block("csv").encode())
    world.finish(world.notification_of(key))


@pytest.fixture
def reviewed(world: World) -> World:
    """The document's case, imported and produced; another tenant has a case of the same name."""
    load(world, "another")
    load(world, "local")
    body = NewProduction.model_validate_json(block("json"))
    with session() as transaction:
        production_id = create_production(transaction, Caller(tenant_id="local", user_id="ada"), body).id
    execute(production_id)
    return world


def test_each_question_has_the_answer_that_is_shown(reviewed: World) -> None:
    questions = answered()
    assert len(questions) == 7
    for statement, names, rows in questions:
        with reviewed.engine.connect() as connection:
            result = connection.exec_driver_sql(statement.replace("%", "%%"))
            assert (tuple(result.keys()), [tuple(map(shown, row)) for row in result]) == (names, rows), statement


def test_the_export_writes_every_row_of_the_view_as_csv(reviewed: World, tmp_path: Path) -> None:
    url = reviewed.engine.url.render_as_string(hide_password=False)
    own = {".venv/bin/python": sys.executable, '"$(.venv/bin/exhibit-ingest database-url)"': url}
    commands = {written: shlex.quote(ours) for written, ours in own.items()}
    script = block("sh", VIEW)
    for written, ours in commands.items():
        assert written in script
        script = script.replace(written, ours)
    subprocess.run(["/bin/sh", "-ec", script], cwd=tmp_path, check=True, timeout=60)
    with (tmp_path / "exhibits.csv").open(encoding="utf-8-sig", newline="") as file:
        exported = list(csv.DictReader(file))
    [(_, names, rows)] = [each for each in answered() if "FROM exhibit_list" in each[0]]
    columns = ["parent_control_number" if name == "parent" else name for name in names]
    assert [tuple(row[name] or "NULL" for name in columns) for row in exported] == rows
    assert list(exported[0]) == list(dict(_COLUMN.findall(VIEW)))


def test_the_tables_and_columns_of_the_document_are_those_of_the_server_with_their_comments(database: Database) -> None:
    written = {
        section.partition("`")[0]: (section.split("\n\n")[1], dict(_COLUMN.findall(section)))
        for section in TABLES.split("\n#### `")[1:]
    }
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for table, comment, column, meaning in database.query(_COMMENTS):
        assert all((comment, meaning)), f"{table}.{column} has no comment"
        found.setdefault(table, (comment, {}))[1][column] = meaning
    assert written == found


@pytest.fixture
def many_names(database: Database) -> tuple[Database, list[str]]:
    """An exhibit with custodians whose names fill more than the default of `group_concat_max_len`, and one without."""
    case_id = get_or_create_case(database, "Smith v. Jones", "local")
    names = [f"Gr\u00fc\u00df, {number:04} {'x' * 200}" for number in range(3000)]
    database.query(
        "INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status) "
        "VALUES (:key, 'local', :case_id, 'b', 'k', 1, 'review.csv', 'u', 'completed')",
        key=secrets.token_bytes(32),
        case_id=case_id,
    )
    import_id = database.scalar("SELECT MAX(id) FROM imports")
    exhibit_id, _ = put_exhibits(database, case_id, ["SJ-001", "SJ-002"], import_id=import_id)
    names_table = "JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 PATH '$')) AS given"
    database.query(
        f"INSERT INTO custodians (case_id, name) SELECT :case_id, name FROM {names_table}",
        case_id=case_id,
        names=json.dumps(names),
    )
    database.query(
        "INSERT INTO custodian_exhibits SELECT :exhibit_id, id, 'u' FROM custodians WHERE case_id = :case_id",
        exhibit_id=exhibit_id,
        case_id=case_id,
    )
    return database, names


def custodians(database: Database, setting: str, statement: str = "SELECT custodians FROM exhibit_list") -> Rows:
    with database.admin.connect() as connection:
        connection.exec_driver_sql(setting)
        return [tuple(row) for row in connection.exec_driver_sql(f"{statement} ORDER BY control_number")]


def test_a_list_of_names_is_complete_or_an_error_that_says_what_to_do(many_names: tuple[Database, list[str]]) -> None:
    database, names = many_names
    complete = [("; ".join(names),), (None,)]
    assert custodians(database, ROOM) == complete
    sorted_first = "SELECT custodians FROM (SELECT DISTINCT * FROM exhibit_list) AS listed"
    assert custodians(database, ROOM, sorted_first) == complete, "in a temporary table too"
    with pytest.raises(DBAPIError, match=r"1690.*raise group_concat_max_len"):
        custodians(database, SET_BY_DEFAULT)
    plain = "SELECT GROUP_CONCAT(name SEPARATOR '; ') FROM (SELECT name, 1 AS control_number FROM custodians) AS c"
    [(cut,)] = custodians(database, SET_BY_DEFAULT, plain)
    assert len(cut) < len("; ".join(names)), "the negative control is cut"


def grants() -> list[str]:
    """The statements that make the document's reader."""
    return re.findall(r"^(?:CREATE USER|GRANT) .*?(?=;$)", VIEW, re.MULTILINE)


@pytest.fixture
def reader(database: Database, administrator: Connection) -> Iterator[Engine]:
    """The document's user, under a name of this test's own."""
    name = f"reader_{secrets.token_hex(4)}"
    for statement in grants():
        ours = statement.replace("analyst", name).replace("'choose a password'", "''")
        administrator.exec_driver_sql(ours.replace("exhibits.", f"`{database.url.database}`.", 1).replace("%", "%%"))
    engine = create_engine(database.url.set(username=name, password=""))
    yield engine
    engine.dispose()
    administrator.exec_driver_sql(f"DROP USER {name}@'%%'")


def read(engine: Engine, statement: str) -> Sequence[Any]:
    with engine.begin() as connection:
        return connection.execute(text(statement)).all()


def test_the_reader_of_the_document_reads_the_view_and_can_do_nothing_else(reader: Engine) -> None:
    assert read(reader, "SELECT * FROM exhibit_list") == []
    for statement in ("DELETE FROM exhibit_list", "UPDATE exhibits SET title = ''", "SELECT * FROM idempotency_keys"):
        with pytest.raises(DBAPIError, match=r"1142|1288|1395|1143"):
            read(reader, statement)


@pytest.mark.parametrize("grant", [each for each in grants() if each.startswith("GRANT")])
def test_without_one_of_its_grants_the_reader_is_refused(
    reader: Engine, administrator: Connection, database: Database, grant: str
) -> None:
    """The view gives no user what they may not read, and no grant of the document is too many."""
    table = grant.split()[3].removeprefix("exhibits.")
    revoked = f"REVOKE SELECT ON `{database.url.database}`.{table} FROM {reader.url.username}@'%%'"
    administrator.exec_driver_sql(revoked)
    with pytest.raises(DBAPIError, match=r"1142|1143|1356"):
        read(reader, "SELECT * FROM exhibit_list")
