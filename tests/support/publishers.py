"""Publishers in processes of their own that die at random points, and a topic that writes down what it took, and when.

What is published goes into a table, in the order in which it was taken, with what a second connection then saw of the
event.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Event as Flag
from typing import Any

from sqlalchemy import Engine, bindparam, create_engine, event, text

from shell import sns
from shell.db import session
from shell.outbox.relay import publish_pending
from tests.support.outbox import THROTTLED, message_of

API_HANDLERS = ("imports_api", "exhibits_api", "custodians_api", "custody_api")
_FORKS = multiprocessing.get_context("forkserver")
# Who says this last is heard: not less than the others need.
_FORKS.set_forkserver_preload([__name__, "tests.support.workers", "tests.support.api_workers", *API_HANDLERS])
PATIENCE_S = 300
TABLE = """
    CREATE TABLE IF NOT EXISTS toy_publications (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, event_id BIGINT NOT NULL, sequence BIGINT NOT NULL,
      number BIGINT NOT NULL, aggregate BIGINT NOT NULL, was_committed SMALLINT NOT NULL
    )
"""
_TAKE = text(
    "INSERT INTO toy_publications (event_id, sequence, number, aggregate, was_committed) "
    "VALUES (:eventId, :sequence, :number, :aggregate, :was_committed)"
)
_COMMITTED = text("SELECT id FROM outbox_events WHERE id IN :ids").bindparams(bindparam("ids", expanding=True))


class Fate:
    """Kills this process, as Lambda does, once in so many points, by a seed."""

    def __init__(self, seed: int, once_in: int) -> None:
        self.random, self._once_in = random.Random(seed), once_in

    def __call__(self, *_arguments: object, **_named: object) -> None:
        """One point."""
        if self._once_in and self.random.randrange(self._once_in) == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class RecordingTopic:
    """Takes 29 of 30 entries, with whether their events are committed; the publisher may die before or after."""

    def __init__(self, second: Engine, fate: Fate) -> None:
        self._second, self._fate = second, fate

    def publish_batch(self, *, TopicArn: str, PublishBatchRequestEntries: list[dict[str, Any]]) -> dict[str, Any]:
        """Accept most entries; one statement takes them all, so that a death loses no part of a call."""
        self._fate()
        given = {entry["Id"]: message_of(entry) for entry in PublishBatchRequestEntries}
        taken = {key: message for key, message in given.items() if self._fate.random.randrange(30)}
        with self._second.connect() as connection:
            there = set(connection.execute(_COMMITTED, {"ids": [int(key) for key in given]}).scalars())
            rows = [{**message, "was_committed": message["eventId"] in there} for message in taken.values()]
            if rows:
                connection.execute(_TAKE, rows)
        self._fate()
        failed = [{"Id": key, **THROTTLED} for key in given.keys() - taken.keys()]
        return {"Successful": [{"Id": key} for key in taken], "Failed": failed}


def _publish(environment: Mapping[str, str], seed: int, once_in: int, finished: Flag) -> None:
    os.environ.update(environment)
    fate = Fate(seed, once_in)
    ours = session.engine()
    for moment in ("before_cursor_execute", "after_cursor_execute", "commit"):
        event.listen(ours, moment, fate)
    topic = RecordingTopic(create_engine(ours.url, isolation_level="AUTOCOMMIT"), fate)
    setattr(sns, "sns", lambda: topic)  # noqa: B010 - it is not the module's own name
    while not finished.is_set():
        if not publish_pending():
            finished.wait(0.01)


class Publishers:
    """A number of publishers, each replaced when it has died; `deaths` says how often that was."""

    def __init__(self, environment: Mapping[str, str], count: int, *, once_in: int, seed: int) -> None:
        self.deaths = 0
        self._arguments = dict(environment), once_in
        self._seeds = iter(range(seed, seed + 1_000_000))
        self._finished = _FORKS.Event()
        self._processes = [self._start() for _ in range(count)]

    def _start(self) -> ForkServerProcess:
        environment, once_in = self._arguments
        process = _FORKS.Process(target=_publish, args=(environment, next(self._seeds), once_in, self._finished))
        process.daemon = True
        process.start()
        return process

    def replace(self) -> None:
        """Put a new one in the place of each that was killed; one that ended otherwise is an error."""
        for place, process in enumerate(self._processes):
            if process.exitcode is not None:
                assert process.exitcode == -signal.SIGKILL, f"a publisher ended with {process.exitcode}"
                self.deaths += 1
                self._processes[place] = self._start()

    def stop(self) -> None:
        """End all of them, the quick way if they do not end by themselves."""
        self._finished.set()
        for process in self._processes:
            process.join(20)
            if process.exitcode is None:
                process.kill()


@contextmanager
def publishers(environment: Mapping[str, str], count: int, *, once_in: int, seed: int) -> Iterator[Publishers]:
    """Publishers for the block, of which each dies at one in so many points."""
    made = Publishers(environment, count, once_in=once_in, seed=seed)
    try:
        yield made
    finally:
        made.stop()


def until_all_is_published(made: Publishers, waiting: Any, time_passes: Any) -> None:
    """Replace the dead, and let leases and pauses be over again and again, until nothing waits."""
    deadline = time.monotonic() + PATIENCE_S
    while waiting():
        made.replace()
        time_passes()
        time.sleep(0.05)
        assert time.monotonic() < deadline, "not everything was published"
