"""The turns of an export: a message that comes twice is not given up, and a turn that is over ends the part."""

from __future__ import annotations

import json
from typing import Any

import pytest

import write_import_report
from core.errors import InvalidInputError
from shell.aws.sqs import send_messages
from shell.exports import worker
from shell.exports.objects import upload_part
from shell.settings import settings
from shell.tenants import starts
from shell.work.messages import ExportMessage
from tests.integration.exports.conftest import Exporter
from tests.support.application.driver import World, call
from tests.support.aws.queue_redelivery import RedeliveringQueue
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.faults.step_hooks import KilledError

NUMBERS = [f"A-{number}" for number in range(5)]


@pytest.fixture(autouse=True)
def _case(world: World) -> None:
    """A case with five documents."""
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), NUMBERS)


def written(body: bytes) -> list[str]:
    return [json.loads(line)["controlNumber"] for line in body.splitlines()]


def test_a_message_that_comes_again_is_not_given_up_while_the_first_works(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes a dozen times while a part is uploaded; then that worker is killed, and it completes the file."""
    queue = RedeliveringQueue.create(monkeypatch)
    monkeypatch.setenv("IMPORT_REPORTS_QUEUE_URL", queue.url)
    settings.cache_clear()
    monkeypatch.setattr(worker, "BUSY_S", 0)
    made = exporter.request("documents", "jsonl", columns=["controlNumber"])
    message = {"eventType": "export.requested", "exportId": made["id"]}
    delivered = list[bool]()

    def upload_and_be_killed(*given: Any) -> Any:
        upload_part(*given)
        send_messages(queue.url, [ExportMessage.read(message)])
        for _ in range(12):
            delivered.append(queue.deliver(write_import_report.lambda_handler))
        raise KilledError

    with monkeypatch.context() as uploading:
        uploading.setattr(worker, "upload_part", upload_and_be_killed)
        with pytest.raises(KilledError):
            exporter.work(made["id"])
    assert delivered == [True] * 12
    assert exporter.get(made["id"])["documents"] == 0
    while queue.deliver(write_import_report.lambda_handler):
        pass
    assert queue.dead_letters() == []
    assert exporter.get(made["id"])["status"] == "completed"
    assert written(exporter.file(made["id"])) == NUMBERS


def test_a_turn_that_is_over_ends_the_part_and_carries_over_what_is_too_small(
    exporter: Exporter, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each turn gets on by a document; S3, as moto imitates it, would refuse parts of that size."""
    monkeypatch.setattr(worker, "TURN_S", 0)
    made = exporter.request("documents", "jsonl", columns=["controlNumber"])
    parts = "SELECT part_no, LENGTH(carried), etag <> '' FROM export_parts WHERE export_id = :made ORDER BY part_no"
    seen = []
    assert exporter.work(made["id"])
    while messages := exporter.messages():
        [message] = messages
        seen.append([tuple(row) for row in world.query(parts, made=made["id"])][-1])
        assert exporter.work(message["exportId"])
    line = len(b'{"controlNumber":"A-0"}\n')
    carried = [(number, number * line, 0) for number in range(1, 6)]
    assert seen == [(0, None, 0), *carried, (6, None, 1)]
    assert written(exporter.file(made["id"])) == NUMBERS
    state = exporter.get(made["id"])
    assert (state["status"], state["documents"], state["size"]) == ("completed", 5, 5 * line)
    assert not world.query("SELECT part_no FROM export_parts WHERE carried IS NOT NULL")


@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_what_is_carried_is_discarded_with_the_export(
    exporter: Exporter, world: World, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exporter.request("documents")
    while not exporter.get(made["id"])["documents"]:
        worker.write_next_part(made["id"], lambda: True)
    assert world.query("SELECT part_no FROM export_parts WHERE carried IS NOT NULL")
    if end == "cancelled":
        assert exporter.client.post(f"/exports/{made['id']}/cancel").status == 200
    else:
        monkeypatch.setattr(worker, "build_part", _refuse)
    assert exporter.work(made["id"])
    assert exporter.get(made["id"])["status"] == end
    assert not world.query("SELECT part_no FROM export_parts WHERE carried IS NOT NULL")


def _refuse(*_given: Any) -> Any:
    raise InvalidInputError


def test_an_export_of_a_suspended_tenant_begins_later(exporter: Exporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "POSTPONED_S", 0)
    made = exporter.request("documents", "jsonl", columns=["controlNumber"])
    exporter.world.query("UPDATE tenants SET status = 'suspended'")
    assert exporter.work(made["id"])
    (message,) = exporter.messages()
    exporter.world.query("UPDATE tenants SET status = 'active'")
    assert exporter.get(made["id"])["status"] == "requested"
    assert call(write_import_report.lambda_handler, message)
    assert written(exporter.file(made["id"])) == NUMBERS
