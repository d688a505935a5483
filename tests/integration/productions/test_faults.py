"""Every fault of a production's saga has the one outcome that the table says, and what is left can be resumed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle, product
from typing import NamedTuple

import pytest

from core.errors import StorageUnavailableError
from shell.aws import clients
from shell.aws.durable_execution import ATTEMPTS, decide_retry, redact_error
from shell.aws.key_refusals import KeyRefusedError
from shell.settings import settings
from tests.support.application.driver import World, taken_from
from tests.support.productions.runs import ask, execute, retry
from tests.support.productions.saga_faults import (
    BACKWARD,
    FORWARD,
    Fault,
    Faulty,
    Point,
    around,
    assert_cancelled,
    assert_confirmed,
    assert_needs_attention,
    failing,
    handler_of,
    letters,
)

pytestmark = pytest.mark.slow


class Expected(NamedTuple):
    """The status in which a production ends; what is left to do; and where it ends once it was retried."""

    status: str
    left: tuple[str, ...] = ()
    after_retry: str = ""


CONFIRMED, CANCELLED = Expected("confirmed"), Expected("cancelled")
UNDONE = {"undo copy": "copy", "undo reserve": "reserve", "undo begin": "begin"}
# Faults for good; the kind decides nothing.
KINDS = cycle(("refused", "unexpected", "unavailable"))
*BEFORE_PIVOT, PIVOT, AFTER = FORWARD
BROKEN = Fault("copy:2", "unexpected")
Row = tuple[tuple[Fault, ...], Expected]


def left(*undoing: str) -> Expected:
    """Steps that could not be undone."""
    return Expected("needs_attention", tuple(UNDONE[each] for each in undoing), "cancelled")


def with_one_compensation() -> list[Row]:
    """A step fails, and so does what undoes it or an earlier one; all else is undone."""
    undone_after = {
        "copy:1": BACKWARD,
        "copy:3": BACKWARD,
        PIVOT: BACKWARD,
        "reserve": BACKWARD[1:],
        "begin": BACKWARD[2:],
    }
    return [
        ((Fault(at), Fault(undo, next(KINDS))), left(undo)) for at, undoing in undone_after.items() for undo in undoing
    ]


# The lines of the table in docs/guarantees.md. The first row of each is quick.
TABLE: dict[str, list[Row]] = {
    "a step before the confirmation": [
        ((Fault(at, next(KINDS), after),), CANCELLED) for after, at in product((True, False), reversed(BEFORE_PIVOT))
    ],
    "the confirmation before its effect": [((Fault(PIVOT, "unexpected"),), CANCELLED)],
    "the confirmation after its effect": [((Fault(PIVOT, "unavailable", after=True),), CONFIRMED)],
    "the announcement": [
        ((Fault(AFTER, next(KINDS), after),), Expected("needs_attention", (AFTER,), "confirmed"))
        for after in (False, True)
    ],
    "a step and a compensation": with_one_compensation(),
    "a step and several compensations": [
        ((BROKEN, *map(Fault, undoing)), left(*undoing))
        for undoing in (BACKWARD, BACKWARD[:2], BACKWARD[::2], BACKWARD[1:])
    ],
    "a compensation that is done": [((BROKEN, Fault(undo, after=True)), left(undo)) for undo in BACKWARD[:2]],
    # What cancels is the last of all: once that is done, nothing is left.
    "the last compensation that is done": [((BROKEN, Fault("undo begin", after=True)), CANCELLED)],
    "a step for a while": [
        ((Fault("copy:2", "unavailable", times=3), Fault("reserve", "unexpected", times=2)), CONFIRMED),
        (tuple(Fault(at, "unexpected", times=1) for at in FORWARD), CONFIRMED),
    ],
    "a compensation for a while": [
        ((BROKEN, Fault("undo copy", "unavailable", times=3), Fault("undo begin", "unexpected", times=2)), CANCELLED),
    ],
}
TRIED = [
    *(pytest.param(rows[:1], id=name) for name, rows in TABLE.items()),
    *(pytest.param(rows[1:], id=f"{name}, more", marks=pytest.mark.slow) for name, rows in TABLE.items() if rows[1:]),
]
MOST = 6


@pytest.fixture(autouse=True)
def impatient(small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not available is given up after some attempts."""
    monkeypatch.setattr("shell.aws.durable_execution._TransientError.max_attempts", MOST)


def assert_ended(world: World, production: int, prefix: str, expected: Expected) -> None:
    """It ended as expected."""
    if expected.status == "needs_attention":
        assert_needs_attention(world, production, expected.left)
    else:
        {"confirmed": assert_confirmed, "cancelled": assert_cancelled}[expected.status](world, production, prefix)


@pytest.mark.parametrize("rows", TRIED)
def test_each_fault_has_its_one_outcome(world: World, rows: Sequence[Row]) -> None:
    for number, (faults, expected) in enumerate(rows):
        print(" and ".join(map(str, faults)))
        production = ask(prefix=letters(number))
        result = execute(production, failing(*faults), 300)
        assert result == {"status": expected.status, "unfinished": list(expected.left)}
        assert_ended(world, production, letters(number), expected)
        if expected.after_retry:
            retry(production)
            assert execute(production)["status"] == expected.after_retry
            assert_ended(world, production, letters(number), Expected(expected.after_retry))


def test_what_stays_unavailable_is_given_up_after_so_many_attempts(world: World) -> None:
    faulty = Faulty((Fault("copy:2", "unavailable"), Fault("undo copy", "unavailable")))
    execute(production := ask(), handler_of(around(faulty)), 300)
    assert_needs_attention(world, production, ["copy"])
    assert faulty.tried[Point("copy:2")] == faulty.tried[Point("undo copy")] == MOST


@pytest.mark.parametrize("error", [StorageUnavailableError(), KeyRefusedError()], ids=["unavailable", "no key"])
def test_the_waits_for_what_can_come_back_make_a_day_and_some_minutes(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Given up earlier, a key that is off for a minute would cost a production its numbers."""
    monkeypatch.undo()
    waits = [decide_retry(redact_error(error), attempt) for attempt in range(1, ATTEMPTS + 1)]
    assert [wait.should_retry for wait in waits] == [True] * (ATTEMPTS - 1) + [False]
    assert 0 < sum(wait.delay_seconds for wait in waits[:-1]) - 86_400 < 3_600


def test_recipients_who_are_notified_again_know_it_by_its_key(world: World) -> None:
    queue = clients.sqs().create_queue(QueueName=f"{world.bucket}-events")["QueueUrl"]
    to = clients.sqs().get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    topic = clients.sns().subscribe(
        TopicArn=settings().events_topic_arn, Protocol="sqs", Endpoint=to, ReturnSubscriptionArn=True
    )
    execute(production := ask(), failing(Fault("notify", "unavailable", after=True, times=2)))
    clients.sns().unsubscribe(SubscriptionArn=topic["SubscriptionArn"])
    messages = [json.loads(each["Message"]) for each in taken_from(queue)]
    assert [each["eventType"] for each in messages] == ["production.available"] * 3
    assert {each["messageKey"] for each in messages} == {f"{production}:notify"}
