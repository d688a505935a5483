"""Nothing of a document, and nothing of what a driver says, is in checkpoints, logs or events."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from aws_durable_execution_sdk_python_testing import DurableFunctionTestRunner
from aws_durable_execution_sdk_python_testing.stores.memory import InMemoryExecutionStore
from sqlalchemy.exc import DataError

from shell.observability import logger
from shell.productions import documents as produced_documents
from shell.productions.saga import STEPS
from tests.support.log import Log
from tests.support.production_faults import (
    BACKWARD,
    FORWARD,
    MARKER,
    NUMBERS,
    PART_SIZE,
    Hook,
    Point,
    around,
    handler_of,
)
from tests.support.productions import Handler, ask, objects_of, put_documents, put_file, status_of
from tests.support.world import World


@pytest.fixture(autouse=True)
def documents(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents whose title, names, properties and files are full of what nobody may read."""
    monkeypatch.setattr(produced_documents, "PART_SIZE", PART_SIZE)
    said = {"title": MARKER, "file_name": f"{MARKER}.docx"}
    ids = put_documents(world, NUMBERS, properties={"Subject": MARKER, "Page Count": MARKER}, **said)
    held = "INSERT INTO custodian_exhibits (exhibit_id, custodian_id, user_id) SELECT :i, id, 'user' FROM custodians"
    custodian = "INSERT INTO custodians (case_id, name, import_id, line_no) SELECT case_id, :m, 1, 1 FROM exhibits"
    world.query(f"{custodian} WHERE id = :i", m=MARKER, i=ids[0])
    world.query(held, i=ids[0])
    put_file(world, "NATIVE/DOC-2.DOCX", MARKER)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Log]:
    """What the application writes; `caplog` has what all the others do."""
    log = Log()
    monkeypatch.setattr(logger.registered_handler, "stream", log.stream)
    with caplog.at_level(logging.DEBUG):
        yield log


def quoting(*at: Point, times: int) -> Hook:
    """A driver that quotes values fails at these points, each so many times."""
    tried: list[Point] = []

    def hook(point: Point) -> None:
        tried.append(point)
        if point in at and tried.count(point) <= times:
            raise DataError(f"INSERT '{MARKER}'", {"title": MARKER}, Exception(1406, f"Data too long: '{MARKER}'"))

    return hook


def kept_of(production: int, handler: Handler) -> str:
    """All that an execution of the production checkpointed, also what was replaced since."""
    store = InMemoryExecutionStore()
    with DurableFunctionTestRunner(handler=handler, store=store) as runner:
        runner.run(input=json.dumps({"productionId": production, "generation": 1}), execution_timeout=60)
    runner._scheduler._loop.close()
    [execution] = store.list_all()
    return repr(execution.updates) + repr(execution.operations) + repr(execution.result)


def published(world: World) -> str:
    """Outbox and what the productions' rows say of failures."""
    rows: list[Any] = [
        *world.query("SELECT payload FROM outbox_events"),
        *world.query("SELECT reason FROM productions"),
    ]
    return repr(rows) + repr(world.query("SELECT reason FROM production_steps"))


EVERYWHERE = [Point(name, after) for name in (*FORWARD, *BACKWARD) for after in (False, True)]
RUNS = {
    "confirmed": ("confirmed", quoting(*EVERYWHERE, times=1), {}),
    "cancelled": ("cancelled", quoting(Point("copy:2"), times=9), {}),
    "not undone": ("needs_attention", quoting(Point("copy:2"), Point("undo copy"), times=9), {}),
    "not told": ("needs_attention", quoting(Point("notify"), times=9), {}),
    "refused": ("cancelled", quoting(times=0), {"numbering": "page"}),
}


@pytest.mark.parametrize("run", RUNS)
def test_nothing_of_documents_or_drivers_gets_out(
    world: World, written: Log, caplog: pytest.LogCaptureFixture, run: str
) -> None:
    status, hook, asked = RUNS[run]
    production = ask(properties=["Subject"], **asked)
    kept = kept_of(production, handler_of(around(hook, STEPS)))
    assert status_of(world, production) == status
    shown = [kept, written.stream.getvalue(), published(world), *map(caplog.handler.format, ours(caplog.records))]
    assert "reserve" in kept
    assert not [each for each in shown if MARKER in each]
    assert (run != "confirmed") or MARKER.encode() in objects_of(world, production)["VOL001/DATA/VOL001.dat"]


def ours(records: list[logging.LogRecord]) -> list[logging.LogRecord]:
    """But for what AWS's clients and their fake write, at levels that are off in a function."""
    others = ("botocore", "boto3", "urllib3", "s3transfer", "werkzeug")
    return [each for each in records if not each.name.startswith(others)]


def test_the_search_finds_what_is_there(world: World, written: Log, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("aws_durable_execution_sdk_python").error(MARKER)
    logger.info("found", extra={"title": MARKER})
    assert MARKER in written.stream.getvalue()
    assert any(MARKER in caplog.handler.format(each) for each in ours(caplog.records))
