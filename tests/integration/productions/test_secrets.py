"""Nothing of a document, and nothing of what a driver says, is in checkpoints, logs or events."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from aws_durable_execution_sdk_python_testing.stores.memory import InMemoryExecutionStore

from shell.observability import logger
from shell.productions import documents as produced_documents
from tests.support.application.captured_log import Log
from tests.support.application.driver import World
from tests.support.productions.runs import Handler, ask, execute, objects_of, put_documents, put_file, status_of
from tests.support.productions.saga_faults import BACKWARD, FORWARD, MARKER, NUMBERS, PART_SIZE, Fault, failing

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def documents(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents whose title, names, properties and files are full of what may not be read."""
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


def kept_of(production: int, handler: Handler) -> str:
    """All that an execution of the production checkpointed, also what was replaced since."""
    store = InMemoryExecutionStore()
    execute(production, handler, store=store)
    [execution] = store.list_all()
    return repr(execution.updates) + repr(execution.operations) + repr(execution.result)


def published(world: World) -> str:
    """Outbox and what the productions' rows say of failures."""
    rows: list[Any] = [
        *world.query("SELECT payload FROM outbox_events"),
        *world.query("SELECT reason FROM productions"),
    ]
    return repr(rows) + repr(world.query("SELECT reason FROM production_steps"))


def quoting(*at: str) -> tuple[Fault, ...]:
    """A driver that quotes values fails at these points, for good."""
    return tuple(Fault(each, "unexpected") for each in at)


EVERYWHERE = tuple(Fault(name, "unexpected", after, 1) for name in (*FORWARD, *BACKWARD) for after in (False, True))
RUNS: dict[str, tuple[str, tuple[Fault, ...], dict[str, str]]] = {
    "confirmed": ("confirmed", EVERYWHERE, {}),
    "cancelled": ("cancelled", quoting("copy:2"), {}),
    "not undone": ("needs_attention", quoting("copy:2", "undo copy"), {}),
    "not announced": ("needs_attention", quoting("notify"), {}),
    "refused": ("cancelled", (), {"numbering": "page"}),
}


@pytest.mark.parametrize("run", RUNS)
def test_nothing_of_documents_or_drivers_gets_out(
    world: World, written: Log, caplog: pytest.LogCaptureFixture, run: str
) -> None:
    status, faults, fields = RUNS[run]
    production = ask(properties=["Subject"], **fields)
    kept = kept_of(production, failing(*faults))
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
