"""Each log line names the tenant that is worked for, and none of another message, thread or invocation."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import pytest

from core.tenants.labels import build_label, find_label
from shell import observability
from shell.lambda_handlers import event_handler, sqs_handler
from shell.observability import logger
from tests.support.application.captured_log import Log
from tests.support.application.driver import Context, sqs_event

WAIT_S = 60
UPLOAD = {"Records": [{"s3": {"object": {"key": "imports/a+b/Case/upload/production.dat"}}}]}


def batch_of(*tenants: str) -> dict[str, Any]:
    """A message of each tenant in one batch, in the group that its sender gave it; without one for an empty name."""
    event = sqs_event(*({"import_id": number} for number, _ in enumerate(tenants)))
    for record, tenant in zip(event["Records"], tenants, strict=True):
        record["attributes"] |= {"MessageGroupId": build_label(tenant)} if tenant else {}
    return event


def work_on_two(log: Log) -> list[tuple[str, str | None]]:
    """What is logged of two messages, of which the second is read in another thread while the first is worked on."""
    second_is_read = threading.Event()

    def read(message: dict[str, int]) -> int:
        number = message["import_id"]
        logger.info(f"read {number}")
        if number == 1:
            second_is_read.set()
        return number

    def work(number: int) -> None:
        assert second_is_read.wait(WAIT_S)
        logger.info(f"work {number}")
        raise RuntimeError

    answer = sqs_handler(work, None, read)(batch_of("acme", "beta"), Context())
    assert len(answer["batchItemFailures"]) == 2
    logger.info("between")
    event_handler(lambda _event: logger.info("without"))({}, Context())
    return sorted(log.tenants())


RIGHT = [
    *(("between", None), ("failed", "acme"), ("failed", "beta"), ("read 0", "acme"), ("read 1", "beta")),
    *(("without", None), ("work 0", "acme"), ("work 1", "beta")),
]


def test_two_tenants_of_one_batch_are_told_apart_and_neither_is_named_after_it(log: Log) -> None:
    assert work_on_two(log) == RIGHT


def test_with_keys_of_the_process_they_would_be_mixed_up(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control."""
    monkeypatch.setattr(logger, "thread_safe_append_keys", logger.append_keys)
    try:
        assert ("work 0", "acme") not in work_on_two(log)
    finally:
        logger.remove_keys(["tenant_id"])


def test_without_an_end_the_next_invocation_would_name_the_tenant(log: Log) -> None:
    """The negative control."""
    with observability.naming_tenant(None):
        observability.name_tenant("acme")
        event_handler(lambda _event: logger.info("without"))({}, Context())
    assert log.tenants() == [("without", "acme")]


def test_a_message_without_a_group_names_no_tenant_after_one_that_has_one(log: Log) -> None:
    sqs_handler(lambda message: logger.info("work"))(batch_of("acme", "", "beta"), Context())
    assert log.tenants() == [("work", "acme"), ("work", None), ("work", "beta")]


@pytest.mark.parametrize(
    ("body", "group", "label"),
    [
        ('{"eventType": "import.completed", "tenantId": "acme", "importId": 1}', None, "acme"),
        ('{"import_id": 1}', "acme", "acme"),
        ('{"import_id": 1, "tenantId": 1}', None, None),
        (str(UPLOAD).replace("'", '"'), None, hashlib.sha256(b"a b").hexdigest()),
        ('{"Records": [{"s3": null}]}', None, None),
        ('{"Records": [{"s3": {"object": {"key": "volumes/acme/1"}}}]}', None, None),
        ('{"Event": "s3:TestEvent"}', None, None),
        ("[]", None, None),
        ("{", "acme", None),
    ],
)
def test_a_message_names_its_tenant_by_its_members_or_its_group(
    body: str, group: str | None, label: str | None
) -> None:
    assert find_label(body, group) == label


@pytest.mark.parametrize("tenant_id", ["acme", "Acme LLP", "Müller", "a" * 64, "{}\n"])
def test_a_label_is_what_a_group_and_a_dimension_can_be_and_stays_what_it_is(tenant_id: str) -> None:
    label = build_label(tenant_id)
    assert label.isascii()
    assert label.isprintable()
    assert " " not in label
    assert build_label(label) == label
    assert (label == tenant_id) == (tenant_id in {"acme", "a" * 64})
