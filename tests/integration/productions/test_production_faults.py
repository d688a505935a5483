"""Every fault of a production's saga has the one outcome that the table says, and what is left can be gone on with."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import pytest

from core.errors import StorageUnavailableError
from shell.aws import clients
from shell.aws.durable_execution import ATTEMPTS, decide_retry, redact_error
from shell.productions import documents
from shell.settings import settings
from tests.support.production_faults import (
    BACKWARD,
    FORWARD,
    NUMBERS,
    PART_SIZE,
    Fault,
    Faulty,
    Point,
    around,
    assert_cancelled,
    assert_confirmed,
    assert_needs_attention,
    failing,
    handler_of,
)
from tests.support.productions import ask, execute, put_documents, retry
from tests.support.world import World, taken_from


class Expected(NamedTuple):
    """The status in which a production ends; what is left to do; and where it ends once somebody has seen to that."""

    status: str
    left: tuple[str, ...] = ()
    after_retry: str = ""


CONFIRMED, CANCELLED = Expected("confirmed"), Expected("cancelled")
UNDONE = {"undo copy": "copy", "undo reserve": "reserve", "undo begin": "begin"}
FOR_GOOD = ("refused", "unexpected", "unavailable")
SOMETIMES = [("unavailable", 3), ("unexpected", 2)]
BEFORE_PIVOT, PIVOT, BEHIND = FORWARD[:5], FORWARD[5], FORWARD[6]
Row = tuple[tuple[Fault, ...], Expected]


def left(*steps: str) -> Expected:
    """Steps that could not be undone."""
    return Expected("needs_attention", steps, "cancelled")


def one_step() -> list[Row]:
    """A step fails for good: before it has done anything, or when all of it is done."""
    kinds = list(product(FOR_GOOD, (False, True)))
    rows: list[Row] = [((Fault(at, *kind),), CANCELLED) for at in BEFORE_PIVOT for kind in kinds]
    rows += [((Fault(PIVOT, kind),), CANCELLED) for kind in FOR_GOOD]
    rows += [((Fault(PIVOT, kind, after=True),), CONFIRMED) for kind in FOR_GOOD]
    rows += [((Fault(BEHIND, *kind),), Expected("needs_attention", (BEHIND,), "confirmed")) for kind in kinds]
    return rows


def passing() -> list[Row]:
    """A step, or what undoes it, fails so many times and then does not."""
    rows: list[Row] = [((Fault(at, kind, times=times),), CONFIRMED) for at in FORWARD for kind, times in SOMETIMES]
    refused = Fault("copy:2")
    return rows + [((refused, Fault(at, kind, times=times)), CANCELLED) for at in BACKWARD for kind, times in SOMETIMES]


def step_and_compensation() -> list[Row]:
    """A step fails for good, and so does what undoes it or an earlier one; all else is undone."""
    failed = {"begin": BACKWARD[2:], "reserve": BACKWARD[1:], "copy:1": BACKWARD, "copy:3": BACKWARD, PIVOT: BACKWARD}
    rows: list[Row] = [
        ((Fault(at, after=after), Fault(undo)), left(UNDONE[undo]))
        for at, undoing in failed.items()
        for after in ((False,) if at == PIVOT else (False, True))
        for undo in undoing
    ]
    broken: list[Row] = [
        ((Fault("copy:2"), Fault(undo, kind)), left(UNDONE[undo]))
        for undo in BACKWARD
        for kind in ("unexpected", "unavailable")
    ]
    return rows + broken


def compensations() -> list[Row]:
    """Several compensations fail; or one fails when its work is done."""
    refused = Fault("copy:2", "unexpected")
    return [
        ((refused, Fault("undo copy"), Fault("undo reserve")), left("copy", "reserve")),
        ((refused, Fault("undo copy"), Fault("undo begin")), left("copy", "begin")),
        ((refused, Fault("undo reserve"), Fault("undo begin")), left("reserve", "begin")),
        ((refused, *(Fault(undo) for undo in BACKWARD)), left("copy", "reserve", "begin")),
        ((refused, Fault("undo copy", after=True)), left("copy")),
        ((refused, Fault("undo reserve", after=True)), left("reserve")),
        # What cancels is the last of all: once that is done, nothing is left.
        ((refused, Fault("undo begin", after=True)), CANCELLED),
        ((refused, Fault("undo begin", "unexpected", after=True)), CANCELLED),
    ]


TABLE = [one_step(), passing(), step_and_compensation()]
SEED, SHARE = 1, 1 if os.environ.get("RACE_COUNTS") == "full" else 10
ROWS = [row for part in TABLE for row in random.Random(SEED).sample(part, -(-len(part) // SHARE))] + compensations()


def name_of(given: Expected | Sequence[Fault]) -> str:
    """The faults, and what becomes of the production."""
    return given.status if isinstance(given, Expected) else " and ".join(map(str, given))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents a part; and what is not available is given up after six attempts."""
    monkeypatch.setattr(documents, "PART_SIZE", PART_SIZE)
    monkeypatch.setattr("shell.aws.durable_execution._TransientError.max_attempts", 6)


def assert_ended(world: World, production: int, expected: Expected) -> None:
    """It ended as expected."""
    if expected.status == "needs_attention":
        assert_needs_attention(world, production, expected.left)
    else:
        {"confirmed": assert_confirmed, "cancelled": assert_cancelled}[expected.status](world, production)


@pytest.mark.parametrize(("faults", "expected"), ROWS, ids=name_of)
def test_each_fault_has_its_one_outcome(world: World, faults: Sequence[Fault], expected: Expected) -> None:
    put_documents(world, NUMBERS)
    production = ask()
    assert execute(production, failing(*faults), 300) == {"status": expected.status, "unfinished": list(expected.left)}
    assert_ended(world, production, expected)
    if expected.after_retry:
        retry(production)
        assert execute(production)["status"] == expected.after_retry
        assert_ended(world, production, Expected(expected.after_retry))


@pytest.mark.slow
def test_what_stays_unavailable_is_given_up_after_a_day(
    world: World, race_counts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = ATTEMPTS if race_counts == 1 else 12
    monkeypatch.setattr("shell.aws.durable_execution._TransientError.max_attempts", attempts)
    put_documents(world, NUMBERS)
    faulty = Faulty((Fault("copy:2", "unavailable"), Fault("undo copy", "unavailable")))
    execute(production := ask(), handler_of(around(faulty)), 300)
    assert_needs_attention(world, production, ["copy"])
    assert faulty.tried[Point("copy:2")] == faulty.tried[Point("undo copy")] == attempts


def test_the_waits_for_what_is_unavailable_make_a_day_and_some_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    waits = [decide_retry(redact_error(StorageUnavailableError()), attempt) for attempt in range(1, ATTEMPTS + 1)]
    assert [wait.should_retry for wait in waits] == [True] * (ATTEMPTS - 1) + [False]
    assert 0 < sum(wait.delay_seconds for wait in waits[:-1]) - 86_400 < 3_600


def test_whoever_is_told_again_knows_it_by_its_key(world: World) -> None:
    queue = clients.sqs().create_queue(QueueName=f"{world.bucket}-told")["QueueUrl"]
    to = clients.sqs().get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    topic = clients.sns().subscribe(
        TopicArn=settings().events_topic_arn, Protocol="sqs", Endpoint=to, ReturnSubscriptionArn=True
    )
    put_documents(world, NUMBERS)
    execute(production := ask(), failing(Fault("notify", "unavailable", after=True, times=2)))
    clients.sns().unsubscribe(SubscriptionArn=topic["SubscriptionArn"])
    told = [json.loads(each["Message"]) for each in taken_from(queue)]
    assert [each["eventType"] for each in told] == ["production.available"] * 3
    assert {each["messageKey"] for each in told} == {f"{production}:notify"}
