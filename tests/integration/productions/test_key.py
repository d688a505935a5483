"""Productions whose executions Lambda cannot start or show because the stack's key refuses it."""

from __future__ import annotations

import boto3
import pytest
from botocore.stub import Stubber

import resume_productions
import start_production
from shell.aws.key_refusals import KeyRefusedError, watch_key
from shell.productions import executions
from tests.support.application.driver import Context, World, call, sqs_event
from tests.support.aws.lambda_executions import FakeLambda
from tests.support.productions.runs import ask, retry

EVENTS = "SELECT event_type FROM outbox_events WHERE aggregate_id = :p ORDER BY id"


def start(production: int, generation: int = 1) -> bool:
    """Deliver the request; whether the handler is done with it."""
    message = {"eventType": "production.requested", "productionId": production, "generation": generation}
    return call(start_production.lambda_handler, message)


def list_events(world: World, production: int) -> list[str]:
    return [row[0] for row in world.query(EVENTS, p=str(production))]


def test_a_key_that_refuses_lambda_ends_the_start_with_its_reason_until_it_is_retried(
    world: World, lambdas: FakeLambda, production: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the request was sent again for ever, as in an outage, and the production stayed `requested`."""
    client = watch_key(boto3.client("lambda", region_name="us-east-1"))
    with Stubber(client) as stubber, monkeypatch.context() as refused:
        stubber.add_client_error("invoke", "KMSAccessDeniedException")
        refused.setattr(executions, "lambda_client", lambda: client)
        assert start(production)
    [row] = world.query("SELECT status, reason, documents, is_open FROM productions")
    reason = "Key DataKey of the stack refuses Lambda (KMSAccessDeniedException): allow lambda.amazonaws.com"
    assert (row.status, row.documents, row.is_open) == ("needs_attention", None, 0)
    assert row.reason.startswith(reason)
    assert list_events(world, production) == ["production.requested", "production.needs_attention"]
    assert start(production), "a late copy of the message is acknowledged"
    assert lambdas.executions == {}
    retry(production)
    assert start(production, generation=2)
    [row] = world.query("SELECT status, reason FROM productions")
    assert (row.status, row.reason, len(lambdas.executions)) == ("running", None, 1)


def test_a_key_that_refuses_to_show_an_execution_does_not_delay_other_productions(
    world: World, lambdas: FakeLambda, production: int, caplog: pytest.LogCaptureFixture
) -> None:
    others = ask(volume="VOL002")
    start(production)
    world.query("UPDATE productions SET updated_at = NOW(6) - INTERVAL 1 HOUR")
    lambdas.fault = KeyRefusedError("Key DataKey of the stack refuses Lambda")
    assert resume_productions.lambda_handler(sqs_event({}), Context())["batchItemFailures"] == []
    assert [len(list_events(world, each)) for each in (production, others)] == [1, 2]
    assert "failed" in caplog.text
