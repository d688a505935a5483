"""Values that come packed in JSON are those that the plain SELECT has, whatever characters they contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import DatabaseUnavailableError
from core.exhibit_dates import DATE_FIELDS
from core.exhibit_history import describe_fields
from core.imports.overlay import OVERLAID_COLUMNS
from shell.db import group_concat
from shell.db.bulk_insert import insert_new
from shell.db.session import engine, session
from shell.exhibits.updates import KeyedExhibit, lock_exhibits, read_stored_documents, select_values
from tests.integration.exhibits.exhibit_requests import sent_by

_HOSTILE = [*map(chr, range(32)), "\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\uffff"]
_HOSTILE += ['"', "\\", "'", "/", "\\u0000", "\\n", "</", "{", "[", ",", ":", ";", "ß", "e\u0301", "NULL", "null"]
# The columns may store no character of four bytes; tests/integration/db/test_group_concat.py has them.
_CHARACTERS = st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF)
TEXT = st.lists(st.sampled_from(_HOSTILE) | _CHARACTERS, max_size=12).map("".join)
DATE = st.datetimes().filter(lambda each: each.year >= 1000)
_TEXTS = ("bates_begin", "title", "file_name", "native_path", "document_properties")
ROWS = st.lists(
    st.fixed_dictionaries(
        {name: st.none() | TEXT for name in _TEXTS}
        | {date: st.none() | DATE for date in DATE_FIELDS}
        | {"row_hash": st.none() | st.binary(min_size=32, max_size=32)}
    ),
    min_size=1,
    max_size=5,
)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def transaction(database: object) -> Iterator[Session]:
    """As the application has it; what it writes is rolled back."""
    with session() as opened:
        yield opened
        opened.rollback()


def store(transaction: Session, rows: Sequence[dict[str, Any]]) -> list[int]:
    """The ids of new exhibits with these values."""
    before = transaction.execute(text("SELECT COALESCE(MAX(id), 0) FROM exhibits")).scalar_one()
    values = [
        (1, f"P{before}-{number}", 0, number, *(row[name] for name in rows[0])) for number, row in enumerate(rows)
    ]
    insert_new(transaction, "exhibits", ("case_id", "control_number", "import_id", "line_no", *rows[0]), values)
    found = transaction.execute(text("SELECT id FROM exhibits WHERE id > :before ORDER BY id"), {"before": before})
    return [row[0] for row in found]


def select_plainly(transaction: Session, columns: Sequence[str], ids: Sequence[int]) -> list[Sequence[Any]]:
    """The reference: one row for each exhibit, as the driver reads it."""
    statement = f"SELECT {', '.join(columns)} FROM exhibits WHERE id IN :ids ORDER BY id"
    return list(transaction.execute(text(statement), {"ids": tuple(ids)}))


@SETTINGS
@given(ROWS)
def test_values_are_exactly_those_of_a_plain_select(transaction: Session, rows: list[dict[str, Any]]) -> None:
    with transaction.begin_nested() as example:
        ids = store(transaction, rows)
        columns = ("id", "import_id", "document_properties", *OVERLAID_COLUMNS)
        expected = [dict(zip(columns, row, strict=True)) for row in select_plainly(transaction, columns, ids)]
        found = sorted(select_values(transaction, ids), key=itemgetter(0))
        assert [describe_fields(dict(zip(columns, row, strict=True))) for row in found] == list(
            map(describe_fields, expected)
        )
        example.rollback()


@SETTINGS
@given(ROWS)
def test_locked_exhibits_are_exactly_those_of_a_plain_select(transaction: Session, rows: list[dict[str, Any]]) -> None:
    with transaction.begin_nested() as example:
        ids = store(transaction, rows)
        size = "COALESCE(LENGTH(document_properties), 0)"
        columns = ("id", "control_number", "bates_begin", "version", "row_hash", size, "page_set_id", "text_id")
        expected = {row[0]: KeyedExhibit(*row) for row in select_plainly(transaction, columns, ids)}
        assert lock_exhibits(transaction, [*ids, 0]) == expected
        example.rollback()


def test_what_the_server_cuts_is_read_in_halves(transaction: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = store(transaction, [{"title": f"{number} " * 100} for number in range(9)])
    whole = read_stored_documents(transaction, ids)
    select = Mock(wraps=group_concat._select)
    monkeypatch.setattr(group_concat, "_select", select)
    connection = transaction.connection()
    for most in (700, 1_500):
        # As on a server that lets no user raise it.
        connection.info["session variable group_concat_max_len"] = most
        transaction.execute(text(f"SET SESSION group_concat_max_len = {most}"))
        assert {i: each.columns for i, each in read_stored_documents(transaction, ids).items()} == {
            i: each.columns for i, each in whole.items()
        }
    transaction.execute(text("SET SESSION group_concat_max_len = 100"))
    with pytest.raises(DatabaseUnavailableError):
        read_stored_documents(transaction, ids)
    assert select.call_count > len(ids)
    transaction.rollback()
    engine().dispose()


def test_exhibits_are_locked_in_the_order_of_the_primary_key(transaction: Session) -> None:
    """A range of that index is read in its order, and nothing sorts or buffers what it finds."""
    ids = store(transaction, [{"title": str(number)} for number in range(600)])
    sent = sent_by(lambda: lock_exhibits(transaction, ids[::-1]))
    [locking] = [statement for statement, _ in sent if "FOR UPDATE" in statement]
    connection = transaction.connection()
    [plan] = connection.exec_driver_sql(
        f"EXPLAIN FORMAT=TRADITIONAL {locking}", execution_options={"no_parameters": True}
    ).mappings()
    assert (plan["type"], plan["key"]) == ("range", "PRIMARY")
    assert not any(word in str(plan["Extra"]) for word in ("temporary", "filesort", "MRR", "ordered"))
