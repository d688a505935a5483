"""Batches, answers and durations, by Lambda's and SQS's rules."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from moto.sqs import models

from local.event_sources.sqs_events import find_failed_ids
from local.event_sources.waiting import COUNTS
from local.services.moto_patches import ReliableQueue, build_scaled_clock, note_postponed, shorten_visibility
from local.template.model import EventSource
from local.time_scale import TimeScale
from tests.support.aws.repeated_deliveries import RepeatedDelivery


class Unstored:
    """Messages that are not kept on disk."""

    def send(self, _: object, deliver: Callable[[], None]) -> None:
        deliver()

    def delete(self, ids: Iterable[str]) -> None: ...


def build_reliable_queue(*arguments: str) -> models.Queue:
    queue: Any = ReliableQueue(*arguments)  # type: ignore[abstract]
    queue.stored = Unstored()
    return queue  # type: ignore[no-any-return]


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


def test_repeated_delivery_brings_every_message_as_often_as_requested_and_never_twice_in_a_batch() -> None:
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
    """Lets another client add a message in the middle of being read."""

    def __init__(self, queue: models.Queue, late: models.Message, patience_s: float) -> None:
        super().__init__(queue._messages)
        self.sender = threading.Thread(target=queue.add_message, args=(late,))
        self.started, self._patience_s = False, patience_s

    def __iter__(self) -> Any:
        yield from list(super().__iter__())
        if not self.started:
            self.started = True
            self.sender.start()
            # Done at once where nothing stops it, else only after the reader.
            self.sender.join(self._patience_s)


@pytest.mark.parametrize(("kind", "kept"), [(models.Queue, False), (build_reliable_queue, True)])
def test_a_message_sent_while_another_is_deleted_is_kept(kind: type[models.Queue], kept: bool) -> None:
    queue = kind("Queue", "us-east-1", "123456789012")
    first, late = models.Message("first", "{}"), models.Message("late", "{}")
    queue.add_message(first)
    first.mark_received(30)
    assert first.receipt_handle
    racing = _WhileRead(queue, late, 0.3 if kept else 30)
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


@pytest.mark.parametrize(("kind", "counted"), [(models.Queue, 0), (build_reliable_queue, 1)])
def test_a_message_that_becomes_visible_meanwhile_is_counted_once(kind: type[models.Queue], counted: int) -> None:
    queue = kind("Queue", "us-east-1", "123456789012")
    message = models.Message("late", "{}")
    queue.add_message(message)
    message.visible_at = _Meanwhile()
    counts = queue.attributes
    assert sum(counts[name] for name in COUNTS) == counted


@pytest.mark.parametrize(("kind", "waits"), [(models.Queue, False), (build_reliable_queue, True)])
def test_counting_waits_for_the_holder_of_the_queue(kind: type[models.Queue], waits: bool) -> None:
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


def _fair_queue() -> models.Queue:
    return build_reliable_queue("Queue", "us-east-1", "123456789012")


def _send(queue: models.Queue, body: str, group: str | None) -> models.Message:
    message = models.Message(body, body)
    message.group_id = group
    queue.add_message(message)
    return message


@pytest.mark.parametrize(("groups", "first"), [(("big", "little"), "little 0"), ((None, None), "big 1")])
def test_a_message_of_a_group_with_fewer_in_flight_comes_first(groups: tuple[str | None, ...], first: str) -> None:
    queue = _fair_queue()
    big = [_send(queue, f"big {number}", groups[0]) for number in range(3)]
    _send(queue, "little 0", groups[1])
    assert queue.messages[0] is big[0], "nothing is in flight: the oldest"
    big[0].mark_received(30)
    assert queue.messages[0].body == first


class _Backend:
    """SQS with one queue, as moto keeps it."""

    def __init__(self, queue: models.Queue) -> None:
        self.queue = queue

    def get_queue(self, _name: str) -> models.Queue:
        return self.queue

    def change_message_visibility(self, _name: str, receipt_handle: str, visibility_timeout: int) -> None:
        next(each for each in self.queue._messages if each.had_receipt_handle(receipt_handle)).change_visibility(
            visibility_timeout
        )


@pytest.mark.parametrize("postponed", [True, False])
def test_a_poller_shortens_the_visibility_unless_the_function_changed_it(postponed: bool) -> None:
    queue = _fair_queue()
    message = _send(queue, "body", None)
    backend = _Backend(queue)
    message.mark_received(900)
    if postponed:
        note_postponed(_Backend.change_message_visibility)(backend, "Queue", message.receipt_handle, 300)
    before = message.visible_at
    entry = {"Id": "0", "ReceiptHandle": message.receipt_handle, "VisibilityTimeout": 60}
    assert shorten_visibility(backend, "Queue", [entry]) == (["0"], [])
    assert (message.visible_at == before) is postponed
    # The next delivery is another one.
    message.mark_received(900)
    shorten_visibility(backend, "Queue", [{**entry, "ReceiptHandle": message.receipt_handle, "VisibilityTimeout": 0}])
    assert message.visible
