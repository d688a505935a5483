"""Moves messages from queues to functions, as Lambda's event source mappings do, and runs the schedules.

Guarantees Lambda's rules for batches: what succeeded is deleted, what failed reappears after the queue's visibility
time-out, and a failed invocation leaves its whole batch. Dead-letter queues are the queue server's own doing.
No more invocations of a source run at once than its MaximumConcurrency and the number of workers allow.
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from local.activity import Activity
from local.aws import LocalAws
from local.delivery import Delivery
from local.invocation import InvocationFailed
from local.sqs_events import Message, failed_ids, scheduled_event, sqs_event
from local.template import ACCOUNT_ID, REGION, Template
from local.time_scale import TimeScale
from local.wiring import EventSource, Schedule, before_dead_letters

Invoke = Callable[[str, object], Any]

_POLL_SECONDS = 20
_MOST_AT_ONCE = 10
_LOOK_AGAIN_SECONDS = 0.05
COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")


class Pump:
    """All event sources and schedules of one template."""

    def __init__(
        self,
        template: Template,
        aws: LocalAws,
        invoke: Invoke,
        *,
        workers: int,
        time_scale: TimeScale,
        delivery: Delivery,
        log: Path,
    ) -> None:
        self.activity = Activity(log)
        self._template = template
        self._aws = aws
        self._stopping = threading.Event()
        self._pollers = [
            _Poller(source, template, aws, invoke, self.activity, self._stopping, time_scale, delivery, workers)
            for source in template.event_sources
        ]
        self._threads = [threading.Thread(target=poller.run, daemon=True) for poller in self._pollers]
        for schedule in template.schedules:
            period = time_scale.period(schedule.every)
            self._threads.append(
                threading.Thread(target=self._tick, args=(schedule, period, invoke), daemon=True, name=schedule.name)
            )

    def start(self) -> None:
        """Begin to poll and to tick."""
        for thread in self._threads:
            thread.start()

    def announce_stop(self) -> None:
        """Take on nothing more; from now on errors of the queue server are expected."""
        self._stopping.set()

    def join(self) -> None:
        """Wait for the end of all that is under way; the queue server and the workers must be down."""
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        for poller in self._pollers:
            poller.close()

    def is_idle(self) -> bool:
        """Whether no message waits for a function, no time-out runs, and nothing is under way.

        Queues that no function consumes do not count. A message moves only through this pump, or to a dead-letter
        queue, so two equal counts of what was begun around a look at empty queues prove that none was on its way
        meanwhile.
        """
        self.activity.check()
        before = self.activity.at_rest()
        return before is not None and not self.waiting() and self.activity.at_rest() == before

    def waiting(self) -> dict[str, int]:
        """How many messages each consumed queue holds, visible or not; empty queues are left out."""
        consumed = {source.queue for source in self._template.event_sources}
        # What moves to a dead-letter queue that was counted before would be in neither count.
        order = before_dead_letters(self._template.queues.values())
        counts = {queue: self._count(queue) for queue in order if queue in consumed}
        return {queue: count for queue, count in counts.items() if count}

    def wait_until_idle(self, timeout: float) -> None:
        """Wait until the pump is idle; raises TimeoutError saying what it still waited for."""
        deadline = time.monotonic() + timeout
        while not self.is_idle():
            if time.monotonic() > deadline:
                last = "; ".join(str(failure) for failure in self.activity.failures()[-3:])
                raise TimeoutError(f"not idle after {timeout:g} s: {self.waiting()}; last failures: {last or 'none'}")
            self.activity.wait(_LOOK_AGAIN_SECONDS)

    def _count(self, queue: str) -> int:
        url = self._template.queue_url(queue, self._aws.endpoint)
        # All of them: asked for by name, each count would be of another moment.
        answer = self._aws.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
        return sum(int(value) for name, value in answer["Attributes"].items() if name in COUNTS)

    def _tick(self, schedule: Schedule, period: float, invoke: Invoke) -> None:
        while not self._stopping.wait(period):
            moment = datetime.now(UTC)
            event = scheduled_event(schedule.name, str(uuid.uuid4()), ACCOUNT_ID, REGION, moment)
            with self.activity.one():
                try:
                    invoke(schedule.function, event if schedule.payload is None else json.loads(schedule.payload))
                except InvocationFailed as failure:
                    if not self._stopping.is_set():
                        self.activity.failed(failure)


class _Poller:
    """One event source."""

    def __init__(
        self,
        source: EventSource,
        template: Template,
        aws: LocalAws,
        invoke: Invoke,
        activity: Activity,
        stopping: threading.Event,
        time_scale: TimeScale,
        delivery: Delivery,
        workers: int,
    ) -> None:
        self._source = source
        self._arn = template.queue_arn(source.queue)
        self._url = template.queue_url(source.queue, aws.endpoint)
        self._visibility = template.queues[source.queue].visibility
        self._given_visibility = time_scale.visibility(self._visibility, template.functions[source.function].timeout)
        self._sqs = aws.sqs
        self._invoke = invoke
        self._activity = activity
        self._stopping = stopping
        self._time_scale = time_scale
        self._delivery = delivery
        limit = min(workers, source.max_concurrency or workers)
        self._slots = threading.Semaphore(limit)
        self._executor = ThreadPoolExecutor(limit, thread_name_prefix=f"{source.function}-{source.queue}")

    def run(self) -> None:
        """Poll until the end; a slot is taken before anything is received, as a message in hand loses time."""
        while not self._stopping.is_set():
            self._slots.acquire()
            try:
                messages = self._gather()
            except (BotoCoreError, ClientError) as exc:
                self._slots.release()
                if not self._stopping.is_set():
                    self._activity.broke(exc)
                return
            if messages:
                self._hand_on(messages)
            else:
                self._slots.release()

    def close(self) -> None:
        """Wait for the deliveries that are under way."""
        self._executor.shutdown()

    def _gather(self) -> list[Message]:
        """A batch, or as many messages as the delivery wants to see at once, if they are there."""
        wanted = max(self._delivery.window, self._source.batch_size)
        messages = list(self._receive(wanted, _POLL_SECONDS))
        while messages and len(messages) < self._delivery.window:
            more = self._receive(wanted - len(messages), 0)
            if not more:
                break
            messages += more
        return messages

    def _receive(self, wanted: int, wait: int) -> Sequence[Message]:
        return self._sqs.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=min(wanted, _MOST_AT_ONCE),
            WaitTimeSeconds=wait,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages", [])

    def _hand_on(self, messages: Sequence[Message]) -> None:
        """Deliver batch after batch; this thread holds the slot of the first."""
        received = time.monotonic()
        batches = self._delivery.batches(self._source, messages)
        self._activity.begin(len(batches))
        for number, batch in enumerate(batches):
            if number:
                self._slots.acquire()
            self._executor.submit(self._deliver, batch, received)

    def _deliver(self, batch: Sequence[Message], received: float) -> None:
        try:
            failed = self._failed(batch)
            self._delete([message for message in batch if message["MessageId"] not in failed])
            self._hand_back([message for message in batch if message["MessageId"] in failed], received)
        except (BotoCoreError, ClientError) as exc:
            if not self._stopping.is_set():
                self._activity.broke(exc)
        finally:
            self._slots.release()
            self._activity.end()

    def _failed(self, batch: Sequence[Message]) -> set[str]:
        """Invoke the function; gives the ids of the messages that stay."""
        ids = [message["MessageId"] for message in batch]
        if self._stopping.is_set():
            return set(ids)
        try:
            answer = self._invoke(self._source.function, sqs_event(batch, self._arn))
        except InvocationFailed as failure:
            if not self._stopping.is_set():
                self._activity.failed(failure)
            return set(ids)
        return failed_ids(answer, ids) if self._source.reports_failures else set()

    def _delete(self, messages: Sequence[Message]) -> None:
        if messages:
            entries = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(messages)]
            self._sqs.delete_message_batch(QueueUrl=self._url, Entries=entries)  # type: ignore[arg-type]

    def _hand_back(self, messages: Sequence[Message], received: float) -> None:
        """Let failed messages reappear when the template says, where the scale had made the queue wait longer."""
        if self._given_visibility == self._visibility or self._stopping.is_set():
            return
        elapsed = (time.monotonic() - received) / self._time_scale.factor
        left = max(0, math.ceil(self._visibility - elapsed))
        for message in messages:
            # A copy that succeeded meanwhile has taken the message away; twelve hours after sending SQS refuses too.
            with contextlib.suppress(ClientError):
                self._sqs.change_message_visibility(
                    QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=left
                )
