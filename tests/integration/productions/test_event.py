"""The events in events/ are ones that AWS sends; executions are started once, and anew once the last one has ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

import productions_api
import resume_productions
import start_production
from core.errors import DatabaseUnavailableError, QueueUnavailableError
from shell.aws import clients
from shell.aws.sqs import send_messages
from shell.productions import executions
from shell.productions.executions import MAX_RESUMPTIONS
from shell.settings import settings
from shell.work.messages import ProductionMessage
from tests.support.application.driver import Context, World, call
from tests.support.aws.lambda_executions import FakeLambda, refusal
from tests.support.aws.queue_redelivery import TWO_HOURS, RedeliveringQueue
from tests.support.database.counted_database import barrier, together
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import ask, execute, retry, status_of

EVENTS = Path(__file__).parents[3] / "events"
REQUESTED = (
    "SELECT payload FROM outbox_events WHERE event_type = 'production.requested' AND aggregate_id = :p ORDER BY id"
)


def name_of(world: World, production: int, generation: int = 1) -> str:
    """What its execution is called."""
    [(made,)] = world.query("SELECT created_at FROM productions WHERE id = :p", p=production)
    return f"{production}-{made:%Y%m%d%H%M%S%f}-{generation}"


def requested(production: int, generation: int = 1) -> dict[str, Any]:
    """The message that asks for an execution."""
    return {"eventType": "production.requested", "productionId": production, "generation": generation}


def start(production: int, generation: int = 1) -> bool:
    """Deliver the message; whether the handler is done with it."""
    return call(start_production.lambda_handler, requested(production, generation))


def sweep() -> dict[str, int]:
    event = json.loads((EVENTS / "resume_productions.json").read_text())
    answer = dict(resume_productions.lambda_handler(event, Context()))
    assert answer.pop("batchItemFailures") == []
    return answer


def quiet(world: World, *productions: int, minutes: int = 21) -> None:
    """Nothing was heard of them for so long."""
    for production in productions:
        update = "UPDATE productions SET updated_at = NOW(6) - INTERVAL :m MINUTE WHERE id = :p"
        world.query(update, m=minutes, p=production)


def row_of(world: World, production: int) -> tuple[int, str | None]:
    """Its generation, and the execution that is known of it."""
    found = world.query("SELECT generation, execution_arn FROM productions WHERE id = :p", p=production)
    return tuple(found[0])


def generations(world: World, production: int) -> list[int]:
    """Of the requests for executions that were committed."""
    return [json.loads(row[0])["generation"] for row in world.query(REQUESTED, p=str(production))]


def test_the_event_of_the_api_asks_for_a_production(world: World) -> None:
    event = json.loads((EVENTS / "productions_api.json").read_text())
    [exhibit] = put_exhibits(world, get_or_create_case(world, "Doe v. Acme", "acme"), ["A"])
    world.query("INSERT INTO tags (case_id, name) SELECT id, 'Responsive' FROM cases")
    world.query("INSERT INTO taggings (exhibit_id, tag_id, user_id) SELECT :e, id, 'u' FROM tags", e=exhibit)
    answer = productions_api.lambda_handler(event, Context())
    assert answer["statusCode"] == 202, answer
    [made] = world.query("SELECT volume, prefix, digits, properties, user_id FROM productions")
    assert tuple(made)[:4] == ("VOL001", "ACME", 7, '["From", "To"]')
    assert int(event["headers"]["content-length"]) == len(event["body"].encode())


def test_the_event_of_the_queue_starts_the_execution(world: World, lambdas: FakeLambda, production: int) -> None:
    event = json.loads((EVENTS / "start_production.json").read_text())
    production_id = json.loads(event["Records"][0]["body"])["productionId"]
    world.query("UPDATE productions SET id = :new WHERE id = :old", new=production_id, old=production)
    answer = start_production.lambda_handler(event, Context())
    assert (answer, lambdas.executions) == ({"batchItemFailures": []}, {name_of(world, production_id): "RUNNING"})


def test_however_often_it_is_requested_one_execution_is_started(
    world: World, lambdas: FakeLambda, production: int
) -> None:
    assert [start(production) for _ in range(3)] == [True] * 3
    assert lambdas.payloads == [{"productionId": production, "generation": 1}]
    assert row_of(world, production) == (1, f"arn:{name_of(world, production)}")


FAULTS = [refusal("TooManyRequestsException"), refusal("ServiceException"), EndpointConnectionError(endpoint_url="x")]


def test_a_message_comes_back_while_lambda_cannot(world: World, lambdas: FakeLambda, production: int) -> None:
    for lambdas.fault in FAULTS:
        assert not start(production)
        assert row_of(world, production) == (1, None)
    lambdas.fault = None
    assert start(production)
    assert row_of(world, production) == (1, f"arn:{name_of(world, production)}")


def test_a_request_outlasts_two_hours_without_the_database(
    world: World, lambdas: FakeLambda, production: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable() -> None:
        raise DatabaseUnavailableError

    requests = RedeliveringQueue.create(monkeypatch)
    monkeypatch.setenv("PRODUCTION_REQUESTS_QUEUE_URL", requests.url)
    settings.cache_clear()
    send_messages(requests.url, [ProductionMessage.read(requested(production))])
    with monkeypatch.context() as outage:
        outage.setattr(executions, "session", unavailable)
        before = checks()
        assert all(requests.deliver(start_production.lambda_handler) for _ in range(TWO_HOURS))
    assert checks() > before, "should the message be lost, the production is found"
    assert requests.deliver(start_production.lambda_handler)
    assert not requests.deliver(start_production.lambda_handler)
    assert requests.dead_letters() == []
    assert lambdas.executions == {name_of(world, production): "RUNNING"}


def test_a_message_for_no_production_an_older_generation_or_what_has_ended_starts_nothing(
    world: World, lambdas: FakeLambda, production: int
) -> None:
    world.query("UPDATE productions SET generation = 2 WHERE id = :p", p=production)
    assert [start(production), start(production + 1_000)] == [True, True]
    assert lambdas.payloads == []
    assert start(production, generation=2)
    assert list(lambdas.executions) == [name_of(world, production, 2)]
    lambdas.executions.clear()
    execute(production)
    assert start(production, generation=2)
    assert (lambdas.executions, status_of(world, production)) == ({}, "confirmed")


def test_a_production_that_is_being_made_or_was_heard_of_lately_is_left_alone(
    world: World, lambdas: FakeLambda, production: int
) -> None:
    start(production)
    quiet(world, production)
    assert sweep() == {"quiet": 1, "resumed": 0}
    lambdas.executions.clear()
    quiet(world, production, minutes=19)
    assert sweep() == {"quiet": 0, "resumed": 0}
    assert generations(world, production) == [1]


def test_where_the_execution_has_ended_another_one_is_requested_once(
    world: World, lambdas: FakeLambda, production: int
) -> None:
    for generation, state in enumerate(("SUCCEEDED", "FAILED", "TIMED_OUT", "STOPPED", None), 1):
        assert [start(production, each) for each in (generation - 1, generation)] == [True, True]
        assert row_of(world, production) == (generation, f"arn:{name_of(world, production, generation)}")
        lambdas.executions.pop(name_of(world, production, generation))
        if state:
            lambdas.executions[name_of(world, production, generation)] = state
        quiet(world, production)
        assert [sweep(), sweep()] == [{"quiet": 1, "resumed": 1}, {"quiet": 0, "resumed": 0}], state
        assert generations(world, production) == list(range(1, generation + 2))


def test_a_request_that_never_arrived_is_made_again(world: World, lambdas: FakeLambda, production: int) -> None:
    quiet(world, production)
    assert sweep() == {"quiet": 1, "resumed": 1}
    assert generations(world, production) == [1, 1]


def test_an_unrecorded_execution_is_found_under_its_name(world: World, lambdas: FakeLambda, production: int) -> None:
    """The function died between Lambda's answer and the row: a second execution would run beside a living one."""
    start(production)
    world.query("UPDATE productions SET execution_arn = NULL WHERE id = :p", p=production)
    quiet(world, production)
    sweep()
    assert start(production)
    assert (len(lambdas.executions), row_of(world, production)) == (1, (1, f"arn:{name_of(world, production)}"))


def test_after_so_many_ended_executions_the_production_needs_attention(
    world: World, lambdas: FakeLambda, production: int
) -> None:
    for generation in range(1, MAX_RESUMPTIONS + 2):
        start(production, generation)
        lambdas.executions[name_of(world, production, generation)] = "FAILED"
        quiet(world, production)
        sweep()
    assert status_of(world, production) == "needs_attention"
    assert generations(world, production) == list(range(1, MAX_RESUMPTIONS + 2))
    announced = world.query("SELECT COUNT(*) FROM outbox_events WHERE event_type = 'production.needs_attention'")
    assert (announced[0][0], sweep()) == (1, {"quiet": 0, "resumed": 0})
    retry(production)
    execute(production)
    assert status_of(world, production) == "confirmed", "nothing had failed, so it goes on and is not undone"


def test_two_sweeps_at_once_ask_for_one_execution(world: World, lambdas: FakeLambda, production: int) -> None:
    start(production)
    lambdas.executions[name_of(world, production)] = "FAILED"
    quiet(world, production)
    lambdas.looked = barrier(2).wait
    assert sum(answer["resumed"] for answer in together(sweep, sweep)) == 1
    assert generations(world, production) == [1, 2]


def test_one_that_cannot_be_looked_up_does_not_hold_up_the_others(
    world: World, lambdas: FakeLambda, production: int
) -> None:
    other = ask()
    for each in (production, other):
        start(each)
        lambdas.executions[name_of(world, each)] = "FAILED"
        quiet(world, each)
    lambdas.unknown = name_of(world, production)
    assert sweep() == {"quiet": 2, "resumed": 1}
    assert (generations(world, production), generations(world, other)) == ([1], [1, 2])


def checks() -> int:
    """The checks that are requested."""
    attributes = ["ApproximateNumberOfMessagesDelayed"]
    url = settings().production_checks_queue_url
    answer = clients.sqs().get_queue_attributes(QueueUrl=url, AttributeNames=attributes)  # type: ignore[arg-type]
    return int(answer["Attributes"]["ApproximateNumberOfMessagesDelayed"])


def test_a_production_is_looked_after_from_before_its_execution_until_its_end(
    world: World, lambdas: FakeLambda, production: int
) -> None:
    before = checks()
    sweep()
    assert checks() == before + 1, "it is open, though no execution was started"
    start(production)
    assert checks() == before + 2
    world.query("UPDATE productions SET is_open = 0")
    sweep()
    assert checks() == before + 2, "nothing is open"


def test_without_the_request_for_its_check_no_execution_is_started(
    lambdas: FakeLambda, production: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise QueueUnavailableError

    monkeypatch.setattr("shell.productions.executions.send_messages", refuse)
    assert not start(production)
    assert lambdas.executions == {}
