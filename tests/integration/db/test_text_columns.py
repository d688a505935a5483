"""Text is measured as the column measures it: VARCHAR in characters, TEXT in bytes, and what is cut fits."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core.caller import MAX_TENANT_CHARACTERS, MAX_USER_CHARACTERS, Caller
from core.errors import InvalidInputError
from shell.db.column_limits import column_limits
from shell.db.errors import DbErrorClass, classify, error_number
from shell.db.session import session
from shell.tables import metadata
from shell.tables.custodians_tags import Custodians
from shell.tables.exhibits import Exhibits
from shell.tables.imports import Imports
from shell.tables.infrastructure import OutboxEvents
from shell.utils.data_sanitizer import truncate_string
from shell.utils.key_validation import is_storable, validate_key
from tests.support.database.counted_database import Database

TEXT_BYTES = 65_535


def store_title(value: str | None) -> None:
    insert = "INSERT INTO exhibits (case_id, control_number, import_id, line_no, title) VALUES (1, 'A', 0, 1, :v)"
    with session() as caller:
        caller.execute(text(insert), {"v": value})


def store_payload(value: str | None) -> None:
    insert = "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload) VALUES ('a', 'a', 'a', :v)"
    with session() as caller:
        caller.execute(text(insert), {"v": value})


def test_the_columns_of_documents_and_of_the_import_have_their_own_limits(database: Database) -> None:
    assert column_limits("exhibits")["title"][:3] == (1024, None, "utf8mb3")
    assert column_limits("exhibits")["document_properties"][:3] == (None, TEXT_BYTES, "utf8mb3")
    assert column_limits("outbox_events")["payload"][:3] == (None, TEXT_BYTES, "utf8mb4")
    assert column_limits("imports")["file_name"][:3] == (1024, None, "utf8mb4")


@pytest.mark.usefixtures("database")
def test_every_column_of_a_tenant_or_user_holds_what_a_token_may_name() -> None:
    widest = {"tenant_id": "\U0001f600" * MAX_TENANT_CHARACTERS, "user_id": "\uff5a" * MAX_USER_CHARACTERS}
    Caller.from_claims({"tenant": widest["tenant_id"], "sub": widest["user_id"]}, "tenant")
    columns = [(table, each.name) for table in metadata().tables.values() for each in table.c if each.name in widest]
    assert len(columns) > len(widest)
    assert [each for each in columns if not is_storable(widest[each[1]], each[0].name, each[1])] == []


def test_varchar_is_cut_to_the_characters_that_it_holds(database: Database) -> None:
    value = "ü" * 1024
    with pytest.raises(DBAPIError) as raised:
        store_title(value + "ü")
    assert error_number(raised.value) == 1406
    assert truncate_string(Exhibits, "title", value) == value
    store_title(truncate_string(Exhibits, "title", value + "ü"))
    assert database.scalar("SELECT title FROM exhibits") == value


def test_text_counts_bytes_so_cutting_by_characters_overflows(database: Database) -> None:
    value = "👍" * 20_000
    naive = value[:TEXT_BYTES]
    with pytest.raises(DBAPIError) as raised:
        store_payload(naive)
    assert error_number(raised.value) == (1406 if database.is_mysql else 1366), "one server says another number"
    assert classify(raised.value) is DbErrorClass.DATA
    store_payload(truncate_string(OutboxEvents, "payload", value))
    assert database.scalar("SELECT LENGTH(payload) FROM outbox_events") == 4 * (TEXT_BYTES // 4)


def test_characters_that_the_columns_character_set_lacks_are_removed(database: Database) -> None:
    with pytest.raises(DBAPIError) as raised:
        store_title("a👍b")
    assert (error_number(raised.value), classify(raised.value)) == (1366, DbErrorClass.DATA)
    store_title(truncate_string(Exhibits, "title", "a👍b"))
    assert database.scalar("SELECT title FROM exhibits") == "ab"
    assert truncate_string(Imports, "file_name", "a👍b") == "a👍b", "where they fit they stay"


@pytest.mark.parametrize("name", ["x" * 256, "emoji 👍"])
def test_a_key_that_does_not_fit_is_refused_for_two_cut_ones_could_be_equal(database: Database, name: str) -> None:
    with pytest.raises(InvalidInputError):
        validate_key(name, column_limits("custodians")["name"])
    naive = {truncate_string(Custodians, "name", "x" * 255 + end) for end in ("one", "two")}
    assert len(naive) == 1, "the negative control makes one custodian of two"


def test_all_columns_of_an_exhibit_may_be_full_at_once(database: Database) -> None:
    limits = column_limits("exhibits")
    values = {name: "中" * limit.characters for name, limit in limits.items() if limit.characters}
    columns, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    with session() as caller:
        insert = f"INSERT INTO exhibits (case_id, import_id, line_no, {columns}) VALUES (1, 0, 1, {marks})"
        caller.execute(text(insert), values)
    assert database.scalar("SELECT CHAR_LENGTH(text_path) FROM exhibits") == 1024
