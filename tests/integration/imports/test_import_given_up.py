"""Requests that fail in every attempt, deliveries that come too late, and input that once broke an import."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import settle_failed_import
import start_import
from core.imports.uploads import build_options_key
from shell.aws import clients
from shell.imports.chunks import importer, writer
from shell.settings import settings
from tests.integration.imports.conftest import Chunks
from tests.support.accounts import accounts
from tests.support.world import Message, World, call, request_messages

THREE = b"Control Number,Title,Custodian\r\nA-1,one,Smith\r\nA-2,two,Jones\r\nA-3,three,Brown\r\n"
OTHERS = b"Control Number,Title,Custodian\r\nA-1,1,Else\r\nA-2,2,Else\r\nA-3,3,Else\r\n"
FAILED_EVENTS = "SELECT payload FROM outbox_events WHERE event_type = 'import.failed'"


@pytest.fixture(autouse=True)
def no_delay(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Messages that are sent back come at once; none is left of another test."""
    monkeypatch.setenv("REDRIVE_DELAY_SECONDS", "0")
    settings.cache_clear()
    request_messages()
    yield
    monkeypatch.undo()
    settings.cache_clear()


def settle(notification: Message, redrive: int | None = None) -> None:
    """Hand a notification to the function behind the dead-letter queue."""
    message = notification if redrive is None else {**notification, "redrive": redrive}
    assert call(settle_failed_import.lambda_handler, message)


def test_a_request_that_failed_is_sent_back_once_and_nothing_is_recorded(world: World) -> None:
    notification = world.upload(THREE)
    settle(notification)
    assert request_messages() == [{**notification, "redrive": 1}]
    for table in ("imports", "cases", "outbox_events"):
        assert world.query(f"SELECT COUNT(*) FROM {table}") == [(0,)]
    assert world.chunk_messages() == []


def test_a_request_that_was_sent_back_can_still_be_met(world: World) -> None:
    settle(world.upload(THREE))
    for message in request_messages():
        assert call(start_import.lambda_handler, message)
    assert len(world.chunk_messages()) == 1
    assert world.query("SELECT status, rows_seen FROM imports") == [("running", 3)]


def test_a_request_that_failed_again_is_recorded_once_with_its_reason(world: World) -> None:
    notification = world.upload(THREE)
    for _ in range(3):
        settle(notification, redrive=1)
    recorded = world.query("SELECT id, status, failure_code, finished_at IS NOT NULL FROM imports")
    assert [row[1:] for row in recorded] == [("failed", "NOT_READ", 1)]
    assert [json.loads(row[0])["code"] for row in world.query(FAILED_EVENTS)] == ["NOT_READ"]
    assert (request_messages(), world.chunk_messages()) == ([], [])


def test_an_import_that_was_given_up_does_not_start_any_more(world: World) -> None:
    notification = world.upload(THREE)
    settle(notification, redrive=1)
    assert call(start_import.lambda_handler, notification)
    assert world.query("SELECT status FROM imports") == [("failed",)]
    assert world.chunk_messages() == []


def test_an_import_that_runs_gets_messages_for_its_pending_chunks_alone(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    notification = world.upload(THREE)
    assert call(start_import.lambda_handler, notification)
    first, *lost = world.chunk_messages()
    assert importer.import_chunk(first["import_id"], first["chunk_no"]) == "done"
    settle(notification, redrive=1)
    assert world.chunk_messages() == lost
    assert len(lost) == 2
    assert world.query("SELECT status, failure_code, chunks_left FROM imports") == [("running", None, 2)]
    assert world.query(FAILED_EVENTS) == []


def test_a_late_delivery_brings_no_name_back_after_the_import_is_complete(world: World) -> None:
    import_id = world.start(THREE)
    found = importer._load(import_id, 1)
    assert found is not None
    stale = importer.read_rows(found)
    assert stale.held == {}
    world.chunk_messages()
    # Behind the back of the second delivery the rows become rows of a conflict, which name nobody.
    world.run(OTHERS)
    assert importer.import_chunk(import_id, 1) == "done"
    before = world.query("SELECT name FROM custodians ORDER BY name")
    assert before == [("Else",)]
    assert writer.write_chunk(stale).status == "done"
    assert world.query("SELECT name FROM custodians ORDER BY name") == before
    assert accounts(world, import_id).codes() == {line: {"EXISTS_WITH_OTHER_VALUES"} for line in (2, 3, 4)}


def test_long_names_that_the_database_holds_equal_are_merged_and_told(world: World) -> None:
    tags = ["\u200b" * 400 + "a", "\u200b" * 450 + "a"]
    rows = "".join(f"A-{number},{tag}\r\n" for number, tag in enumerate(tags))
    import_id = world.run(f"Control Number,Tags\r\n{rows}".encode())
    assert accounts(world, import_id).status == "completed"
    assert accounts(world, import_id).counts["imported"] == 2
    assert world.query("SELECT name FROM tags") == [(tags[0],)]
    warned = world.query("SELECT line_no, code, original FROM import_warnings")
    assert [(line, code, bytes(original).decode()) for line, code, original in warned] == [(3, "NAME_MERGED", tags[1])]
    assert world.query("SELECT COUNT(*) FROM taggings") == [(2,)]


@pytest.mark.parametrize(
    "options", [b"[" * 200_000, b'{"columns": ' * 50_000, rb'{"user_id": "\ud800"}'], ids=["lists", "objects", "user"]
)
def test_options_that_cannot_be_understood_fail_the_import_and_not_the_request(world: World, options: bytes) -> None:
    notification = world.upload(THREE)
    key = build_options_key(notification["Records"][0]["s3"]["object"]["key"])
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=options)
    assert call(start_import.lambda_handler, notification)
    assert world.query("SELECT status, failure_code FROM imports") == [("failed", "BAD_OPTIONS")]
    assert world.query("SELECT COUNT(*) FROM import_chunks") == [(0,)]


def test_the_same_rows_with_their_columns_in_another_order_are_unchanged(world: World) -> None:
    columns = ["Control Number", "Title", "Author", "Custodian", "Sent By", "Begin Bates"]
    cells = [["A-1", "one", "x", "Smith", "y", "B-1"], ["A-2", "two", "", "Jones", "z", "B-2"]]
    orders = ([0, 1, 2, 3, 4, 5], [4, 2, 5, 1, 3, 0])
    files = [[",".join(row[place] for place in order) for row in (columns, *cells)] for order in orders]
    first, second = (world.run("\r\n".join(lines).encode()) for lines in files)
    assert accounts(world, first).counts["imported"] == 2
    assert accounts(world, second).counts["unchanged"] == 2
    assert accounts(world, second).rejected == []
