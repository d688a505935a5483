"""Batches, answers and durations, by Lambda's and SQS's rules."""

from __future__ import annotations

import math
import threading
from collections import Counter
from typing import Any

import pytest
from moto.sqs import models

from local.event_sources.sqs_events import find_failed_ids
from local.event_sources.waiting import COUNTS
from local.services.moto_patches import ReliableQueue, build_scaled_clock
from local.template.model import EventSource
from local.time_scale import TimeScale
from tests.support.deliveries import RepeatedDelivery

SOURCE = EventSource("Function", "Queue", 2, None, True)


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, ""),
        ({}, ""),
        ({"batchItemFailures": None}, ""),
        ({"batchItemFailures": []}, ""),
        ({"batchItemFailures": [{"itemIdentifier": "a"}]}, "a"),
        ({"batchItemFailures": [{"itemIdentifier": "a"}, {"itemIdentifier": "b"}]}, "ab"),
        ({"batchItemFailures": [{"itemIdentifier": "stranger"}]}, "abc"),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, "abc"),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, "abc"),
        ({"batchItemFailures": [{"wrongKey": "a"}]}, "abc"),
        ({"batchItemFailures": ["a"]}, "abc"),
        ({"batchItemFailures": "a"}, "abc"),
        ("done", "abc"),
    ],
)
def test_an_answer_is_read_as_lambda_reads_it(answer: Any, failed: str) -> None:
    assert find_failed_ids(answer, ["a", "b", "c"]) == set(failed)


def test_repeated_delivery_brings_every_message_as_often_as_asked_and_never_twice_in_a_batch() -> None:
    messages = [{"MessageId": str(n)} for n in range(20)]
    batches = RepeatedDelivery(copies=3, seed=1).make_batches(SOURCE, messages)
    ids = [message["MessageId"] for batch in batches for message in batch]
    assert Counter(ids) == {str(n): 3 for n in range(20)}
    assert ids != [str(n) for n in range(20)] * 3
    assert all(len({message["MessageId"] for message in batch}) == len(batch) for batch in batches)


def test_waits_shrink_with_the_scale_and_work_keeps_its_time() -> None:
    scale = TimeScale(0.001, shortest_timeout=5)
    assert scale.scale_wait(360) == pytest.approx(0.36)
    assert scale.scale_timeout(60) == 5
    assert scale.scale_timeout(3) == 3
    assert TimeScale(0.5, shortest_timeout=5).scale_timeout(900) == 450
    assert TimeScale(0.05, shortest_timeout=math.inf).scale_timeout(900) == 900


def test_a_message_stays_hidden_for_as_long_as_its_consumer_may_take() -> None:
    assert TimeScale().scale_visibility(360, 60) == 360
    scale = TimeScale(0.001, shortest_timeout=5)
    assert scale.scale_wait(scale.scale_visibility(360, 60)) == pytest.approx(scale.scale_timeout(60))


@pytest.mark.parametrize("factor", [0, -1, 2])
def test_a_scale_that_stops_or_stretches_time_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="time scale"):
        TimeScale(factor)


def test_a_scaled_clock_starts_now_and_runs_faster() -> None:
    times = iter([1000.0, 1000.0, 1002.0])
    clock = build_scaled_clock(0.01, lambda: next(times))
    assert (clock(), clock()) == (1000.0, 1200.0)


class _WhileRead(list[models.Message]):
    """Lets somebody else add a message in the middle of being read."""

    def __init__(self, queue: models.Queue, late: models.Message) -> None:
        super().__init__(queue._messages)
        self.sender = threading.Thread(target=queue.add_message, args=(late,))
        self.started = False

    def __iter__(self) -> Any:
        yield from list(super().__iter__())
        if not self.started:
            self.started = True
            self.sender.start()
            # Done at once where nothing stops it, else only after the reader.
            self.sender.join(timeout=0.3)


@pytest.mark.parametrize(("kind", "kept"), [(models.Queue, False), (ReliableQueue, True)])
def test_a_message_sent_while_another_is_deleted_is_kept(kind: type[models.Queue], kept: bool) -> None:
    queue = kind("Queue", "us-east-1", "123456789012")
    first, late = models.Message("first", "{}"), models.Message("late", "{}")
    queue.add_message(first)
    first.mark_received(30)
    assert first.receipt_handle
    racing = _WhileRead(queue, late)
    racing.started = True
    queue._messages = racing
    # The check that the handle is known reads once; the race is in the second reading.
    list(racing)
    racing.started = False

    queue.delete_message(first.receipt_handle)
    racing.sender.join()
    assert (late in list.__iter__(queue._messages)) is kept


class _Meanwhile(float):
    """A moment that comes between the first and the second look at the clock."""

    looks = 0

    def __lt__(self, now: float) -> bool:
        self.looks += 1
        return self.looks > 1


@pytest.mark.parametrize(("kind", "counted"), [(models.Queue, 0), (ReliableQueue, 1)])
def test_a_message_that_becomes_visible_meanwhile_is_counted_once(kind: type[models.Queue], counted: int) -> None:
    queue = kind("Queue", "us-east-1", "123456789012")
    message = models.Message("late", "{}")
    queue.add_message(message)
    message.visible_at = _Meanwhile()
    told = queue.attributes
    assert sum(told[name] for name in COUNTS) == counted


@pytest.mark.parametrize(("kind", "waits"), [(models.Queue, False), (ReliableQueue, True)])
def test_counting_waits_for_whoever_holds_the_queue(kind: type[models.Queue], waits: bool) -> None:
    """As while a message moves to the dead-letter queue, and is in neither queue for a moment."""
    queue = kind("Queue", "us-east-1", "123456789012")
    begun = threading.Event()

    def count() -> None:
        begun.set()
        _ = queue.attributes

    counting = threading.Thread(target=count)
    with queue._messages_lock:
        counting.start()
        assert begun.wait(30)
        counting.join(timeout=0.3 if waits else 30)
        assert counting.is_alive() is waits
    counting.join()
