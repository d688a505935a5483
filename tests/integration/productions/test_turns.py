"""Beyond the limit productions wait their turn, and stay alive; what has an execution, or is to be undone, does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import resume_productions
import start_production
from shell.productions import executions
from shell.settings import settings
from shell.work import reminders
from shell.work.messages import Message
from tests.support.application.driver import Context, World, call, sqs_event
from tests.support.aws.lambda_executions import FakeLambda
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import ask, cancel

Messages = list[dict[str, Any]]
HEARTBEAT = "SELECT updated_at FROM productions WHERE id = :p"


class Queues:
    """The messages that were sent, by the queue's URL."""

    def __init__(self) -> None:
        self.sent: dict[str, Messages] = {}

    def send(self, url: str, messages: Sequence[Message], _delay_s: int = 0) -> None:
        self.sent.setdefault(url, []).extend(message.as_dict() for message in messages)

    def take(self, url: str) -> Messages:
        return self.sent.pop(url, [])


@pytest.fixture
def queues(world: World, monkeypatch: pytest.MonkeyPatch) -> Queues:
    made = Queues()
    for module in (executions, reminders):
        monkeypatch.setattr(module, "send_messages", made.send)
    return made


@pytest.fixture
def lambdas(world: World, monkeypatch: pytest.MonkeyPatch) -> FakeLambda:
    """Lambda, where one production may have an execution."""
    fake = FakeLambda()
    for name, value in (("PRODUCE_FUNCTION_ARN", "arn:produce:live"), ("MAX_PRODUCTIONS", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PRODUCTION_REQUESTS_QUEUE_URL", "the requests")
    monkeypatch.setattr(executions, "lambda_client", lambda: fake)
    settings.cache_clear()
    return fake


@pytest.fixture(autouse=True)
def _settings_of_other_tests(lambdas: FakeLambda, monkeypatch: pytest.MonkeyPatch) -> Any:
    yield
    monkeypatch.undo()
    settings.cache_clear()


@pytest.fixture
def started(world: World, lambdas: FakeLambda, queues: Queues) -> int:
    """A production that has an execution."""
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A"])
    production = ask()
    assert start(requested(production))
    return production


@pytest.fixture
def other(started: int) -> int:
    """One that is requested beside it."""
    return ask(prefix="OTHER")


def requested(production: int) -> dict[str, Any]:
    return {"eventType": "production.requested", "productionId": production, "generation": 1}


def checks() -> str:
    """The queue of the checks of productions."""
    return settings().production_checks_queue_url


def start(message: Mapping[str, Any]) -> bool:
    """Deliver the message; whether the handler is done with it."""
    return call(start_production.lambda_handler, message)


def quiet(world: World, production: int) -> Any:
    """Nothing was heard of it for some time; returns when it was."""
    world.query("UPDATE productions SET updated_at = NOW(6) - INTERVAL 30 MINUTE WHERE id = :p", p=production)
    return world.query(HEARTBEAT, p=production)


def test_beyond_the_limit_a_production_waits_its_turn_and_stays_alive(
    world: World, lambdas: FakeLambda, queues: Queues, started: int, other: int
) -> None:
    heard = quiet(world, other)
    assert start(requested(other)), "the message is done with; a copy is delivered in a minute"
    assert len(lambdas.executions) == 1
    [copy] = queues.take("the requests")
    assert world.query(HEARTBEAT, p=other) > heard, "who waits is not taken for dead"
    assert queues.take(checks()) == [{}, {}], "one for each production"
    assert start(copy)
    assert queues.take(checks()) == [], "none for each minute that it waits"
    [copy] = queues.take("the requests")
    world.query("UPDATE productions SET is_open = 0 WHERE id = :p", p=started)
    assert start(copy)
    assert len(lambdas.executions) == 2
    assert queues.take("the requests") == []


def test_what_has_an_execution_takes_no_other_turn_and_is_not_kept_alive(
    world: World, lambdas: FakeLambda, queues: Queues, started: int, other: int
) -> None:
    """Its execution may have ended for good: to be found, it must be quiet."""
    world.query("UPDATE productions SET execution_arn = 'arn:another' WHERE id = :p", p=other)
    heard = quiet(world, started)
    assert start(requested(started))
    assert queues.take("the requests") == []
    assert world.query(HEARTBEAT, p=started) == heard
    assert len(lambdas.executions) == 1


def test_checks_request_one_check_however_many_there_are(started: int, queues: Queues, other: int) -> None:
    queues.take(checks())
    bodies: Messages = [{}] * 4
    for expected in (4, 1, 1):
        for body in bodies:
            resume_productions.lambda_handler(sqs_event(body), Context())
        bodies = queues.take(checks())
        assert len(bodies) == expected


def test_a_cancelled_production_does_not_wait_to_be_undone(
    lambdas: FakeLambda, queues: Queues, started: int, other: int
) -> None:
    assert start(requested(other))
    [copy] = queues.take("the requests")
    cancel(other)
    assert start(copy)
    assert queues.take("the requests") == []
    assert len(lambdas.executions) == 2


def test_a_production_of_a_suspended_tenant_waits_and_stays_alive(
    world: World, lambdas: FakeLambda, queues: Queues
) -> None:
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A"])
    production = ask()
    world.query("REPLACE INTO tenants (tenant_id, status) VALUES ('tenant', 'suspended')")
    heard = quiet(world, production)
    assert start(requested(production))
    [copy] = queues.take("the requests")
    assert (len(lambdas.executions), world.query(HEARTBEAT, p=production) > heard) == (0, True)
    world.query("UPDATE tenants SET status = 'active'")
    assert start(copy)
    assert len(lambdas.executions) == 1
