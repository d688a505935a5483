"""Every function takes the event that AWS hands it, and knows what to do with one that means nothing."""

from __future__ import annotations

import copy
import hashlib
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import publish_outbox
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from shell.settings import settings
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import Context, World, complete_imports, taken_from

EVENTS = Path(__file__).parents[3] / "events"
FROM_QUEUES = ("start_import", "import_chunk", "complete_import", "handle_failed_chunk", "write_import_report")
MALFORMED = ("", "not JSON", "[]", "null", "7", "{}", '{"import_id": "one", "chunk_no": 1}')


def event_of(function: str) -> dict[str, Any]:
    """The event of events/."""
    event: dict[str, Any] = json.loads((EVENTS / f"{function}.json").read_text("utf-8"))
    return event


def invoke(function: str, event: dict[str, Any]) -> Any:
    """Call a handler by its module's name."""
    return importlib.import_module(function).lambda_handler(event, Context())


def with_body(function: str, body: str) -> dict[str, Any]:
    """The function's event with another body."""
    event = event_of(function)
    event["Records"][0] |= {"body": body, "md5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()}
    return event


def test_what_the_database_does_not_know_is_acknowledged(world: World) -> None:
    for function in (*FROM_QUEUES[1:], "publish_outbox"):
        assert invoke(function, event_of(function))["batchItemFailures"] == [], function
    first_visit = json.dumps({"import_id": 987_654, "chunk_no": 3, "redrive": 0})
    for function in ("handle_failed_chunk", "import_chunk"):
        assert invoke(function, with_body(function, first_visit))["batchItemFailures"] == [], function
    for function in ("start_import", "handle_failed_import"):
        unknown = json.dumps({"import_id": 987_654, "redrive": 1})
        assert invoke(function, with_body("start_import", unknown))["batchItemFailures"] == [], function
    assert world.query("SELECT import_id FROM import_rejections UNION ALL SELECT id FROM outbox_events") == []


def test_an_announced_object_that_is_not_there_is_a_failed_import(world: World) -> None:
    event = event_of("start_import")
    body = json.loads(event["Records"][0]["body"])
    body["Records"][0]["s3"]["bucket"]["name"] = world.bucket
    assert invoke("start_import", with_body("start_import", json.dumps(body)))["batchItemFailures"] == []
    found = "SELECT c.name, i.file_name, i.size, i.failure_code FROM imports i JOIN cases c ON c.id = i.case_id"
    assert world.query(found) == [("Smith v. Müller", "production_001.dat", 1_048_576, "SOURCE_GONE")]


@pytest.mark.parametrize("function", FROM_QUEUES)
def test_a_body_that_makes_no_sense_goes_to_the_dead_letter_queue(world: World, function: str) -> None:
    """It is reported as failed each time it comes; the queue gives it up after its last."""
    for body in MALFORMED:
        event = with_body(function, body)
        failed = [{"itemIdentifier": event["Records"][0]["messageId"]}]
        assert invoke(function, event)["batchItemFailures"] == failed, body
    assert world.query("SELECT COUNT(*) FROM imports")[0][0] == 0


def test_one_bad_record_of_a_batch_is_reported_and_the_others_are_done(world: World) -> None:
    import_id = world.start(generate(Spec(rows=3)).data)
    world.chunk_messages()
    event = event_of("import_chunk")
    good, bad = event["Records"][0], copy.deepcopy(event["Records"][0])
    bad |= {"messageId": "bad", "body": "not JSON"}
    good["body"] = json.dumps({"import_id": import_id, "chunk_no": 1, "redrive": 0})
    answer = invoke("import_chunk", {"Records": [bad, good]})
    assert answer["batchItemFailures"] == [{"itemIdentifier": "bad"}]
    complete_imports()
    assert world.query("SELECT status FROM imports") == [("completed",)]


def test_the_publisher_takes_wake_and_schedule_alike(world: World) -> None:
    schedule = {"version": "0", "detail-type": "Scheduled Event", "source": "aws.events", "detail": {}}
    for event in (event_of("publish_outbox"), schedule):
        world.run(generate(Spec(rows=2)).data)
        assert publish_outbox.lambda_handler(event, Context()) == {"published": 2, "batchItemFailures": []}


def test_the_publisher_is_waked_for_events_and_for_nothing_else(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    late = Fault(FaultKind.LONG_TITLE, row=2)
    world.start(generate(Spec(rows=6, faults=(late,))).data)
    first, warned, last = world.chunk_messages()
    wakes = settings().outbox_wake_queue_url
    counts = []
    for message in (first, warned, last):
        taken_from(wakes)
        assert world.import_chunk(message)
        counts.append(len(taken_from(wakes)))
    assert counts == [0, 1, 1], "a plain chunk, one with a warning, the last one"
