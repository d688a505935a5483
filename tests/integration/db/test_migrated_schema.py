"""The migrated schema is what the models say, however often and by however many it is migrated."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import Engine, UniqueConstraint, inspect, text
from sqlalchemy.dialects import mysql

import migrate_database
from core.errors import LockNotAcquiredError
from shell.tables import metadata
from shell.utils.advisory_lock import exclusive_connection
from tests.support.application.driver import MigrationContext
from tests.support.database.counted_database import Database, outcome, together

DIALECT = mysql.dialect()


def family(kind: Any) -> str:
    """A column's type as both sides write it, without its character set and MariaDB's width of integers."""
    written = str(kind.compile(dialect=DIALECT)).partition(" CHARACTER SET")[0].partition(" COLLATE")[0]
    return re.sub(r"INT(EGER)?\(\d+\)", r"INT\1", written)


def modelled() -> dict[str, dict[str, tuple[str, bool]]]:
    return {
        table.name: {column.name: (family(column.type), bool(column.nullable)) for column in table.columns}
        for table in metadata().sorted_tables
    }


def migrated(engine: Engine) -> dict[str, dict[str, tuple[str, bool]]]:
    found = inspect(engine)
    return {
        table: {each["name"]: (family(each["type"]), each["nullable"]) for each in found.get_columns(table)}
        for table in found.get_table_names()
        if table != "alembic_version" and not table.startswith("toy_")
    }


def test_tables_columns_types_and_nullability_are_the_models(database: Database) -> None:
    assert migrated(database.admin) == modelled()
    generated = "TABLE_SCHEMA = DATABASE() AND EXTRA LIKE '%auto_increment%' AND TABLE_NAME NOT LIKE 'toy%'"
    kinds = database.query(f"SELECT DISTINCT DATA_TYPE FROM information_schema.COLUMNS WHERE {generated}")
    assert [str(kind[0]).lower() for kind in kinds] == ["bigint"], "rows that are there already use up ids"


def test_primary_unique_and_other_keys_are_the_models(database: Database) -> None:
    found = inspect(database.admin)
    for table in metadata().sorted_tables:
        primary = found.get_pk_constraint(table.name)["constrained_columns"]
        assert primary == [column.name for column in table.primary_key], table.name
        declared = {str(index.name): ([c.name for c in index.columns], False) for index in table.indexes}
        for constraint in table.constraints:
            if isinstance(constraint, UniqueConstraint):
                declared[str(constraint.name)] = ([column.name for column in constraint.columns], True)
        indexes = {str(i["name"]): (i["column_names"], bool(i["unique"])) for i in found.get_indexes(table.name)}
        assert indexes == declared, table.name


def test_foreign_keys_are_the_models_and_none_points_at_imports_or_cases(database: Database) -> None:
    found = inspect(database.admin)
    for table in metadata().sorted_tables:
        declared = {(key.parent.name, key.column.table.name) for key in table.foreign_keys}
        theirs = {(k["constrained_columns"][0], k["referred_table"]) for k in found.get_foreign_keys(table.name)}
        assert theirs == declared, table.name
        assert not {"imports", "cases"} & {referred for _, referred in theirs}


def test_defaults_of_the_server_are_the_models(database: Database) -> None:
    found = inspect(database.admin)
    for table in metadata().sorted_tables:
        theirs = {c["name"] for c in found.get_columns(table.name) if c["default"] not in (None, "NULL")}
        assert theirs == {c.name for c in table.columns if c.server_default is not None}, table.name


def migrate() -> Any:
    return migrate_database.lambda_handler({"RequestType": "Update"}, MigrationContext())


def test_two_that_migrate_at_once_and_one_later_end_with_one_schema(empty: Engine) -> None:
    assert together(migrate, migrate) == [migrate()] * 2 == [{"status": "migrated"}] * 2
    assert migrated(empty) == modelled()
    with empty.connect() as connection:
        assert connection.execute(text("SELECT COUNT(*) FROM alembic_version")).scalar() == 1


def test_two_that_create_tables_without_a_lock_meet(empty: Engine) -> None:
    """What the lock is for: DDL commits by itself, so the second one finds half of the first one's work."""
    with empty.connect() as first, empty.connect() as second:
        for connection in (first, second):
            assert not inspect(connection).has_table("cases")
        first.execute(text("CREATE TABLE cases (id BIGINT PRIMARY KEY)"))
        refused = outcome(lambda: second.execute(text("CREATE TABLE cases (id BIGINT PRIMARY KEY)")))()
    assert isinstance(refused, Exception)


def test_the_lock_of_one_database_belongs_to_it_alone(database: Database) -> None:
    with exclusive_connection("migrations", 0):
        with pytest.raises(LockNotAcquiredError, match="'migrations'"), exclusive_connection("migrations", 0):
            pass
        with exclusive_connection("others", 0):
            pass
    with exclusive_connection("migrations", 0):
        pass
