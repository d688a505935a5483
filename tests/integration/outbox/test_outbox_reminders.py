"""No schedule looks for events: messages with a delay do, so that an idle database can pause."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import publish_outbox
import purge_expired
from core.errors import QueueUnavailableError
from shell.aws import clients
from shell.outbox import relay, writer
from shell.outbox.relay import publish_pending, report_backlog
from shell.work import reminders
from shell.work.messages import WakeMessage
from tests.support.application.driver import Context, sqs_event
from tests.support.database.counted_database import Database
from tests.support.outbox.events import FakeTopic, append


@contextmanager
def silent_server() -> Iterator[tuple[str, Callable[[], int]]]:
    """A server that never answers: its URL, and how many connections were made to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)

        def count() -> int:
            made = []
            with suppress(BlockingIOError):
                while True:
                    made.append(listener.accept()[0])
            for connection in made:
                connection.close()
            return len(made)

        yield f"http://127.0.0.1:{listener.getsockname()[1]}", count


class Queue:
    """The delays of the messages that were sent, and how many events others saw then."""

    def __init__(self, database: Database) -> None:
        self.sent: list[tuple[int, int]] = []
        self.bodies: list[dict[str, Any]] = []
        self.attempts: list[int] = []
        self.fails = False
        self._database = database

    def send(self, _url: str, messages: Sequence[WakeMessage], delay_s: int = 0) -> int:
        if self.fails:
            raise QueueUnavailableError
        self.bodies += [message.as_dict() for message in messages]
        self.sent.append((delay_s, int(self._database.query("SELECT COUNT(*) FROM outbox_events")[0][0])))
        return len(messages)

    def wake(self, url: str, delay_s: int = 0, attempts: int = 0) -> bool:
        self.attempts.append(attempts)
        return not self.fails and bool(self.send(url, [WakeMessage()], delay_s))


@pytest.fixture
def queue(database: Database, monkeypatch: pytest.MonkeyPatch) -> Queue:
    """The queue of the relay, in a process that has sent nothing yet."""
    made = Queue(database)
    monkeypatch.setattr(writer, "wake", made.wake)
    monkeypatch.setattr(reminders, "send_messages", made.send)
    forget_wakes(monkeypatch)
    return made


def forget_wakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this a process that has sent nothing yet."""
    monkeypatch.setattr(writer, "_last_delayed_wake", [])
    monkeypatch.setattr(writer, "_last_failure", [])


def test_the_relay_is_reminded_before_the_event_is_committed_and_once_a_minute(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A death after the COMMIT cannot lose it: it was sent before the event was visible."""
    now = [1_000_000.0]
    monkeypatch.setattr("shell.outbox.writer.time.time", lambda: now[0])
    append(1)
    append(2)
    assert queue.sent == [(writer.DELAY_S, 0)]
    now[0] += writer.PERIOD_S
    append(3)
    assert queue.sent[1:] == [(writer.DELAY_S, 2)]
    now[0] -= 3600
    append(4)
    assert len(queue.sent) == 3, "a clock that was set back does not stop the reminders"


def test_a_queue_that_takes_no_reminder_does_not_stop_the_event_and_is_retried_later(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr("shell.outbox.writer.time.time", lambda: now[0])
    queue.fails = True
    append(1)
    append(2)
    assert queue.attempts == [1], "one attempt, and no other transaction is held up"
    queue.fails = False
    now[0] += writer.PAUSE_S
    append(3)
    assert queue.sent == [(writer.DELAY_S, 2)]


def test_an_sqs_that_does_not_answer_is_called_once_within_the_transaction(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_wakes(monkeypatch)
    monkeypatch.setattr(writer, "PAUSE_S", 600)
    with silent_server() as (url, connections), monkeypatch.context() as silent:
        silent.setenv("AWS_ENDPOINT_URL_SQS", url)
        clients.wake_sqs.cache_clear()
        append(1)
        append(2)
        assert connections() == 1
    clients.wake_sqs.cache_clear()
    assert database.query("SELECT COUNT(*) FROM outbox_events") == [(2,)]


def test_no_wake_waits_longer_than_three_seconds_for_an_answer() -> None:
    """Retries come after the COMMIT, where no locks are held."""
    config: Any = clients.wake_sqs(1).meta.config
    assert config.connect_timeout + config.read_timeout == 3


def test_without_events_no_reminder_is_sent(queue: Queue) -> None:
    append()
    assert queue.sent == []


def test_the_relay_runs_again_while_events_wait_and_rests_when_none_do(queue: Queue, topic: FakeTopic) -> None:
    append(1)
    topic.outages = 1
    del queue.sent[:]
    assert (publish_pending(), report_backlog().events) == (0, 1)
    assert queue.sent == [(relay.RETRY_S, 1)]


def test_in_an_outage_every_wake_has_the_relay_run_again_once_and_one_goes_on(queue: Queue, topic: FakeTopic) -> None:
    append(1)
    topic.outages = 100
    wakes: list[dict[str, Any]] = [{}] * 5
    for expected in (5, 1, 1):
        del queue.bodies[:]
        for wake in wakes:
            publish_outbox.lambda_handler(sqs_event(wake), Context())
        assert len(queue.bodies) == expected
        wakes = list(queue.bodies)


def test_a_relay_that_published_everything_rests(queue: Queue, topic: FakeTopic) -> None:
    append(1)
    del queue.sent[:]
    assert (publish_pending(), report_backlog().events, queue.sent) == (1, 0, [])
    append(2)
    topic.outages = 1
    publish_pending()
    queue.fails = True
    with pytest.raises(QueueUnavailableError):
        report_backlog()


def test_an_event_whose_wakes_were_all_lost_is_found_by_the_purge(queue: Queue, topic: FakeTopic) -> None:
    queue.fails = True
    append(1)
    queue.fails = False
    purge_expired.lambda_handler({}, Context())
    assert queue.sent == [(relay.RETRY_S, 1)]
    publish_outbox.lambda_handler(sqs_event(*queue.bodies), Context())
    purge_expired.lambda_handler({}, Context())
    assert len(queue.sent) == 1, "nothing waits any more"
