"""Log lines of an import, a request and a production name the tenant, from whatever the message has of it."""

from __future__ import annotations

from typing import Any

import import_chunk
from core.caller import Caller
from shell.aws import clients
from shell.observability import logger
from shell.settings import settings
from tests.integration.imports.import_requests import THREE, announce, put, start
from tests.support.api.client import Client
from tests.support.application.captured_log import Log
from tests.support.application.driver import Context, World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import ask, execute


def receive_chunks() -> dict[str, Any]:
    """The waiting chunks in one batch, as Lambda receives it from SQS."""
    received: Any = clients.sqs().receive_message(
        QueueUrl=settings().import_chunks_queue_url, MessageSystemAttributeNames=["All"], MaxNumberOfMessages=10
    )
    return {
        "Records": [
            {
                "messageId": each["MessageId"],
                "receiptHandle": each["ReceiptHandle"],
                "body": each["Body"],
                "attributes": each["Attributes"],
                "eventSource": "aws:sqs",
            }
            for each in received["Messages"]
        ]
    }


def test_chunks_of_two_tenants_in_one_batch_name_their_own(world: World, log: Log) -> None:
    for name in ("acme", "beta"):
        assert start(put(announce(Caller(name, "ada")), THREE))
    owners = dict(world.query("SELECT id, tenant_id FROM imports"))
    batch = receive_chunks()
    assert len(batch["Records"]) == 2
    world.query("UPDATE import_chunks SET sha256 = REPEAT('0', 32)")
    assert len(import_chunk.lambda_handler(batch, Context())["batchItemFailures"]) == 2
    lines = log.lines()
    assert {line["tenant_id"] for line in lines if line["message"] == "failed"} == {"acme", "beta"}
    queued = [line for line in lines if line["message"] == "chunks queued"]
    assert [line["tenant_id"] for line in queued] == [owners[line["import_id"]] for line in queued]
    assert len(queued) == 2


def test_a_request_names_its_tenant_also_if_it_is_refused_and_the_next_one_its_own(world: World, log: Log) -> None:
    world.query("REPLACE INTO tenants (tenant_id, status) VALUES ('acme', 'suspended')")
    assert Client("beta").get("/cases").status == 200
    assert Client("acme").get("/cases").status == 403
    logger.info("between")
    assert log.tenants() == [("tenant created by its first use", "beta"), ("between", None)]


def test_an_unexpected_error_of_a_request_names_the_tenant(world: World, log: Log) -> None:
    world.query("RENAME TABLE cases TO cases_away")
    try:
        assert Client("acme").get("/cases").status >= 500
    finally:
        world.query("RENAME TABLE cases_away TO cases")
    failed = [line for line in log.lines() if line["message"] == "failed"]
    assert [line.get("tenant_id") for line in failed] == ["acme"]


def test_the_steps_of_a_production_name_the_tenant(world: World, log: Log) -> None:
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A"])
    execute(ask())
    lines = [line for line in log.lines() if "production_id" in line]
    assert lines
    assert {line.get("tenant_id") for line in lines} == {"tenant"}
