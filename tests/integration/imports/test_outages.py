"""An outage of S3 for two hours, delivery by delivery: no chunk and no report is given up."""

from __future__ import annotations

import pytest
from botocore.exceptions import EndpointConnectionError

import import_chunk
import write_import_report
from shell import lambda_handlers
from shell.aws.sqs import send_messages
from shell.lambda_handlers import MAX_DELIVERIES
from shell.work.messages import ImportEndedMessage
from tests.integration.imports.conftest import Setting
from tests.integration.imports.import_requests import THREE
from tests.support.application.driver import World, complete_imports
from tests.support.aws.queue_redelivery import TWO_HOURS, RedeliveringQueue


class NoStorage:
    """S3 that cannot be reached."""

    def get_object(self, *_: object, **__: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://s3")

    upload_fileobj = get_object


@pytest.fixture
def chunks(world: World, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> RedeliveringQueue:
    """The queue of the chunks."""
    made = RedeliveringQueue.create(monkeypatch)
    setting("IMPORT_CHUNKS_QUEUE_URL", made.url)
    return made


def test_a_chunk_outlasts_two_hours_without_s3(
    world: World, chunks: RedeliveringQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = world.start(THREE)
    with monkeypatch.context() as outage:
        outage.setattr("shell.aws.s3.s3", NoStorage)
        assert all(chunks.deliver(import_chunk.lambda_handler) for _ in range(TWO_HOURS))
    assert chunks.deliver(import_chunk.lambda_handler)
    assert not chunks.deliver(import_chunk.lambda_handler)
    complete_imports()
    assert chunks.dead_letters() == []
    found = world.query("SELECT status, imported, rejected FROM imports WHERE id = :i", i=import_id)
    assert found == [("completed", 3, 0)]


def test_a_chunk_is_given_up_where_outages_are_not_recognised(
    world: World, chunks: RedeliveringQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start(THREE)
    monkeypatch.setattr(lambda_handlers, "is_outage", lambda _: False)
    monkeypatch.setattr("shell.aws.s3.s3", NoStorage)
    deliveries = [chunks.deliver(import_chunk.lambda_handler) for _ in range(MAX_DELIVERIES + 1)]
    assert deliveries == [True] * MAX_DELIVERIES + [False]
    assert len(chunks.dead_letters()) == 1


def test_a_report_outlasts_two_hours_without_s3(
    world: World, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = RedeliveringQueue.create(monkeypatch)
    setting("IMPORT_REPORTS_QUEUE_URL", reports.url)
    import_id = world.run(THREE)
    send_messages(reports.url, [ImportEndedMessage.read({"importId": import_id, "generation": 1})])
    with monkeypatch.context() as outage:
        outage.setattr("shell.aws.s3.s3", NoStorage)
        assert all(reports.deliver(write_import_report.lambda_handler) for _ in range(TWO_HOURS))
    assert reports.deliver(write_import_report.lambda_handler)
    assert not reports.deliver(write_import_report.lambda_handler)
    assert reports.dead_letters() == []
    assert world.query("SELECT generation - reports_generation FROM imports WHERE id = :i", i=import_id) == [(0,)]
