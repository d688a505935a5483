"""Of messages that each request the next one, one chain is left, and none is lost with a worker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from core.errors import DatabaseUnavailableError, QueueUnavailableError
from shell.work import reminders
from shell.work.messages import NEW_TURN, WakeMessage
from shell.work.reading import read_turn
from shell.work.reminders import remind
from tests.support.database.counted_database import Database, barrier, together

DELAY_S = 60


class Queue:
    """The turns of the messages that were sent and not delivered yet."""

    def __init__(self) -> None:
        self.turns: list[int] = []
        self.fails = False

    def send(self, _url: str, messages: Sequence[WakeMessage], _delay_s: int) -> None:
        if self.fails:
            raise QueueUnavailableError
        self.turns += [message.turn for message in messages]

    def deliver(self) -> int:
        """Deliver all of them, each on its own; returns how many there were."""
        turns, self.turns = self.turns, []
        for turn in turns:
            remind("queue", DELAY_S, turn)
        return len(turns)


@pytest.fixture
def queue(database: Database, monkeypatch: pytest.MonkeyPatch) -> Queue:
    made = Queue()
    monkeypatch.setattr(reminders, "send_messages", made.send)
    return made


def start(count: int) -> None:
    for _ in range(count):
        remind("queue", DELAY_S)


def test_of_many_messages_one_goes_on(queue: Queue) -> None:
    start(5)
    assert [queue.deliver() for _ in range(4)] == [5, 1, 1, 1]
    start(2)
    assert [queue.deliver() for _ in range(3)] == [3, 1, 1], "new ones take over from the old one"
    assert queue.turns == sorted(queue.turns)


def test_each_queue_has_its_own_turns(queue: Queue) -> None:
    remind("another", DELAY_S)
    start(1)
    assert len(queue.turns) == 2
    remind("another", DELAY_S, queue.turns[0])
    remind("queue", DELAY_S, queue.turns[1])
    assert len(queue.turns) == 4


def test_two_workers_at_once_leave_one_chain(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting, send = barrier(2), queue.send

    def send_together(*given: Any) -> None:
        meeting.wait()
        send(*given)

    start(1)
    [turn] = queue.turns
    del queue.turns[:]
    with monkeypatch.context() as both:
        both.setattr(reminders, "send_messages", send_together)
        together(lambda: remind("queue", DELAY_S, turn), lambda: remind("queue", DELAY_S, turn))
    assert [queue.deliver() for _ in range(2)] == [2, 1]


@pytest.mark.parametrize("order", ["the message of the killed worker", "the one that it sent"])
def test_a_worker_killed_after_it_sent_neither_ends_nor_doubles_the_chain(
    order: str, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(1)
    [turn] = queue.turns
    del queue.turns[:]
    with monkeypatch.context() as killed:
        killed.setattr(reminders, "_save_turn", _fail)
        with pytest.raises(DatabaseUnavailableError):
            remind("queue", DELAY_S, turn)
    queue.turns.insert(len(queue.turns) if "sent" in order else 0, turn)
    assert [queue.deliver() for _ in range(3)] == [2, 1, 1]


def _fail(*_: object) -> None:
    raise DatabaseUnavailableError


def test_a_queue_that_refused_gets_the_same_request_again(queue: Queue) -> None:
    start(1)
    [turn] = queue.turns
    del queue.turns[:]
    queue.fails = True
    with pytest.raises(QueueUnavailableError):
        remind("queue", DELAY_S, turn)
    queue.fails = False
    remind("queue", DELAY_S, turn)
    assert len(queue.turns) == 1


def test_a_chain_goes_on_where_its_row_was_purged(queue: Queue, database: Database) -> None:
    start(1)
    database.query("DELETE FROM semaphores")
    assert [queue.deliver() for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("bodies", "turn"), [([{"turn": 5}, {"turn": 9}], 9), ([{"turn": 5}, {}], NEW_TURN), ([], NEW_TURN)]
)
def test_the_turn_of_a_batch_is_its_latest_one(bodies: list[dict[str, int]], turn: int) -> None:
    assert read_turn({"Records": [{"body": json.dumps(body)} for body in bodies]}) == turn


def test_an_invocation_by_hand_has_no_turn() -> None:
    assert read_turn({"releaseDeadLetters": True}) == NEW_TURN
