"""A publisher in a process of its own that is killed at a chosen point, and a topic that records what it took.

What is published goes into a table, in the order in which it was taken, with what a second connection then saw of the
event.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, bindparam, create_engine, event, text

from shell import sns
from shell.db import session
from shell.outbox.relay import publish_pending
from tests.support.outbox.events import THROTTLED, message_of

API_HANDLERS = ("imports_api", "import_checks_api", "exhibits_api", "custodians_api", "custody_api")
_FORKS = multiprocessing.get_context("forkserver")
# Who says this last is heard: not less than the others need.
_FORKS.set_forkserver_preload(
    [__name__, "tests.support.application.handler_processes", "tests.support.api.client_processes", *API_HANDLERS]
)
PATIENCE_S = 60
TABLE = """
    CREATE TABLE IF NOT EXISTS toy_publications (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, event_id BIGINT NOT NULL, sequence BIGINT NOT NULL,
      number BIGINT NOT NULL, aggregate VARCHAR(50) NOT NULL, was_committed SMALLINT NOT NULL
    )
"""
_TAKE = text(
    "INSERT INTO toy_publications (event_id, sequence, number, aggregate, was_committed) "
    "SELECT :eventId, :sequence, :number, :aggregate, :was_committed"
)
_COMMITTED = text("SELECT id FROM outbox_events WHERE id IN :ids").bindparams(bindparam("ids", expanding=True))


class Fate:
    """Kills this process, as Lambda does, at the point of that number, counted from 1."""

    def __init__(self, point: int) -> None:
        self._left = point

    def __call__(self, *_arguments: object, **_named: object) -> None:
        """One point."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class RecordingTopic:
    """Takes every entry but those of the aggregates that it throttles, with whether their events are committed."""

    second: Engine
    throttled: str = "none"
    met: Callable[[], None] = lambda: None

    def publish_batch(self, *, TopicArn: str, PublishBatchRequestEntries: list[dict[str, Any]]) -> dict[str, Any]:
        """Accept entries; one transaction takes them all, so that a death loses no part of a call."""
        self.met()
        given = {entry["Id"]: message_of(entry) for entry in PublishBatchRequestEntries}
        taken = {key: each for key, each in given.items() if not each["aggregate"].startswith(self.throttled)}
        with self.second.begin() as connection:
            there = set(connection.execute(_COMMITTED, {"ids": [int(key) for key in given]}).scalars())
            for message in taken.values():
                connection.execute(_TAKE, {**message, "was_committed": message["eventId"] in there})
        self.met()
        failed = [{"Id": key, **THROTTLED} for key in given.keys() - taken.keys()]
        return {"Successful": [{"Id": key} for key in taken], "Failed": failed}


def _publish(environment: Mapping[str, str], point: int, throttled: str) -> None:
    os.environ.update(environment)
    fate, ours = Fate(point), session.engine()
    with ours.connect():
        pass
    for stage in ("before_cursor_execute", "after_cursor_execute", "commit"):
        event.listen(ours, stage, fate)
    topic = RecordingTopic(create_engine(ours.url, isolation_level="READ COMMITTED"), throttled, fate)
    setattr(sns, "sns", lambda: topic)  # noqa: B010 - it is not the module's own name
    publish_pending()


def is_killed_at(environment: Mapping[str, str], point: int, throttled: str) -> bool:
    """Publish all that waits in another process; return whether it came to that point, where it was killed."""
    process = _FORKS.Process(target=_publish, args=(dict(environment), point, throttled), daemon=True)
    process.start()
    process.join(PATIENCE_S)
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0
