"""Requests that fail in every attempt, deliveries that come too late, and input that once broke an import."""

from __future__ import annotations

import json

import pytest

import handle_failed_import
import start_import
from shell.imports.chunks import writer
from shell.imports.chunks.chunk_source import LoadedChunk, load_chunk
from shell.imports.chunks.row_reader import read_rows
from shell.imports.chunks.write_or_check import finish_chunk
from tests.integration.imports.conftest import Chunks, Setting
from tests.integration.imports.import_requests import THREE, prepare_chunk
from tests.support.application.driver import Message, World, call, request_messages
from tests.support.imports.row_outcomes import accounts

OTHERS = b"Control Number,Title,Custodian\r\nA-1,1,Else\r\nA-2,2,Else\r\nA-3,3,Else\r\n"
FAILED_EVENTS = "SELECT payload FROM outbox_events WHERE event_type = 'import.failed'"


@pytest.fixture(autouse=True)
def no_delay(setting: Setting) -> None:
    """Messages that are sent back come at once; none is left of another test."""
    setting("REDRIVE_DELAY_SECONDS", "0")
    request_messages()


def deliver_dead_letter(notification: Message, redrive: int | None = None) -> None:
    """Hand a notification to the function behind the dead-letter queue."""
    message = notification if redrive is None else {**notification, "redrive": redrive}
    assert call(handle_failed_import.lambda_handler, message)


def test_a_request_that_failed_is_sent_back_once_and_can_still_be_met(world: World) -> None:
    notification = world.upload(THREE)
    deliver_dead_letter(notification)
    for table in ("imports", "cases", "outbox_events"):
        assert world.query(f"SELECT COUNT(*) FROM {table}") == [(0,)]
    assert world.chunk_messages() == []
    sent_back = request_messages()
    assert sent_back == [{**notification, "redrive": 1}]
    assert call(start_import.lambda_handler, sent_back[0])
    assert len(world.chunk_messages()) == 1
    assert world.query("SELECT status, rows_seen FROM imports") == [("running", 3)]


def test_a_request_that_failed_again_is_recorded_once_with_its_reason_and_does_not_start(world: World) -> None:
    notification = world.upload(THREE)
    for _ in range(3):
        deliver_dead_letter(notification, redrive=1)
    assert call(start_import.lambda_handler, notification)
    recorded = world.query("SELECT status, failure_code, finished_at IS NOT NULL FROM imports")
    assert recorded == [("failed", "NOT_READ", 1)]
    assert [json.loads(row[0])["code"] for row in world.query(FAILED_EVENTS)] == ["NOT_READ"]
    assert (request_messages(), world.chunk_messages()) == ([], [])


def test_an_import_that_runs_gets_messages_for_its_pending_chunks_alone(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    notification = world.upload(THREE)
    assert call(start_import.lambda_handler, notification)
    first, *lost = world.chunk_messages()
    assert finish_chunk(prepare_chunk(first["import_id"], first["chunk_no"])) == "done"
    deliver_dead_letter(notification, redrive=1)
    assert world.chunk_messages() == lost
    assert len(lost) == 2
    assert world.query("SELECT status, failure_code, chunks_left FROM imports") == [("running", None, 2)]
    assert world.query(FAILED_EVENTS) == []


def test_a_late_delivery_brings_no_name_back_after_the_import_is_complete(world: World) -> None:
    import_id = world.start(THREE)
    found = load_chunk(import_id, 1)
    assert isinstance(found, LoadedChunk)
    stale = read_rows(found)
    assert stale.held == {}
    world.chunk_messages()
    # Behind the back of the second delivery the rows become rows of a conflict, which name no custodian.
    world.run(OTHERS)
    assert finish_chunk(prepare_chunk(import_id, 1)) == "done"
    before = world.query("SELECT name FROM custodians ORDER BY name")
    assert before == [("Else",)]
    assert writer.write_chunk(stale).status == "done"
    assert world.query("SELECT name FROM custodians ORDER BY name") == before
    assert accounts(world, import_id).codes() == {line: {"EXISTS_WITH_OTHER_VALUES"} for line in (2, 3, 4)}


def test_long_names_that_the_database_holds_equal_are_merged_and_reported(world: World) -> None:
    tags = ["\u200b" * 400 + "a", "\u200b" * 450 + "a"]
    rows = "".join(f"A-{number},{tag}\r\n" for number, tag in enumerate(tags))
    import_id = world.run(f"Control Number,Tags\r\n{rows}".encode())
    assert accounts(world, import_id).status == "completed"
    assert accounts(world, import_id).counts["imported"] == 2
    assert world.query("SELECT name FROM tags") == [(tags[0],)]
    warned = world.query("SELECT line_no, code, original FROM import_warnings WHERE code = 'NAME_MERGED'")
    assert [(line, code, bytes(original).decode()) for line, code, original in warned] == [(3, "NAME_MERGED", tags[1])]
    assert world.query("SELECT COUNT(*) FROM taggings") == [(2,)]
