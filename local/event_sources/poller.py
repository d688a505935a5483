"""Deliver messages from queues to functions, as Lambda's event source mappings do, and run the schedules.

Guaranteed: Lambda's rules for batches. Messages that succeeded are deleted, messages that failed reappear after the
queue's visibility timeout, and a failed invocation leaves its whole batch in the queue. At most MaximumConcurrency
invocations of a source run at once, and at most as many as there are workers.
Not guaranteed here: moving messages to dead-letter queues, which the queue server does.
"""

from __future__ import annotations

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

from local.event_sources.delivery import Delivery
from local.event_sources.sqs_events import Message, build_scheduled_event, build_sqs_event, find_failed_ids
from local.event_sources.waiting import count_waiting
from local.lambda_runtime.activity import Activity
from local.lambda_runtime.invocation import InvocationFailedError
from local.services.aws import LocalAws
from local.services.queues import QueueServerError
from local.template.account import ACCOUNT_ID, REGION
from local.template.model import EventSource, Schedule
from local.template.reader import Template
from local.time_scale import TimeScale

Invoke = Callable[[str, object], Any]

_POLL_SECONDS = 20
_MAX_MESSAGES = 10
_IDLE_CHECK_SECONDS = 0.05


class EventSourceMappings:
    """The event source mappings and schedules of one template."""

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
            _QueuePoller(source, template, aws, invoke, self.activity, self._stopping, time_scale, delivery, workers)
            for source in template.event_sources
        ]
        self._threads = [threading.Thread(target=poller.run, daemon=True) for poller in self._pollers]
        for schedule in template.schedules:
            period = time_scale.scale_period(schedule.period)
            self._threads.append(
                threading.Thread(
                    target=self._run_schedule, args=(schedule, period, invoke), daemon=True, name=schedule.name
                )
            )

    def start(self) -> None:
        """Start to poll the queues and to run the schedules."""
        for thread in self._threads:
            thread.start()

    def announce_stop(self) -> None:
        """Accept no more work; errors of the queue server are expected from now on."""
        self._stopping.set()

    def join(self) -> None:
        """Wait until every delivery has ended; the queue server and the workers must have stopped."""
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        for poller in self._pollers:
            poller.close()

    def is_idle(self) -> bool:
        """Return whether no message waits for a function, visible or not, and no work is in progress.

        Queues that no function consumes do not count. A message moves only through these pollers, or to a dead-letter
        queue. If as many tasks were begun before the check of the empty queues as after it, no message was in transit
        during the check. Raises the error that stopped a poller.
        """
        self.activity.raise_fatal_error()
        before = self.activity.count_if_idle()
        return before is not None and not self.count_waiting() and self.activity.count_if_idle() == before

    def count_waiting(self) -> dict[str, int]:
        """Return the number of messages, visible or not, in each consumed queue that is not empty."""
        return count_waiting(self._template, self._aws)

    def wait_until_idle(self, timeout: float) -> None:
        """Wait until no work is left; raise TimeoutError with the messages that remain and the last failures."""
        deadline = time.monotonic() + timeout
        while not self.is_idle():
            if time.monotonic() > deadline:
                last = "; ".join(str(failure) for failure in self.activity.failures()[-3:])
                raise TimeoutError(
                    f"not idle after {timeout:g} s: {self.count_waiting()}; last failures: {last or 'none'}"
                )
            self.activity.wait(_IDLE_CHECK_SECONDS)

    def _run_schedule(self, schedule: Schedule, period: float, invoke: Invoke) -> None:
        while not self._stopping.wait(period):
            event = build_scheduled_event(schedule.name, str(uuid.uuid4()), ACCOUNT_ID, REGION, datetime.now(UTC))
            with self.activity.track():
                try:
                    invoke(schedule.function, event if schedule.payload is None else json.loads(schedule.payload))
                except InvocationFailedError as failure:
                    if not self._stopping.is_set():
                        self.activity.record_failure(failure)


class _QueuePoller:
    """The poller of one event source."""

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
        self._scaled_visibility = time_scale.scale_visibility(
            self._visibility, template.functions[source.function].timeout
        )
        self._queues = aws.queues
        self._invoke = invoke
        self._activity = activity
        self._stopping = stopping
        self._time_scale = time_scale
        self._delivery = delivery
        limit = min(workers, source.max_concurrency or workers)
        self._slots = threading.Semaphore(limit)
        self._executor = ThreadPoolExecutor(limit, thread_name_prefix=f"{source.function}-{source.queue}")

    def run(self) -> None:
        """Poll until the stop; take a slot before receiving, because the visibility timeout starts on receipt."""
        while not self._stopping.is_set():
            self._slots.acquire()
            try:
                messages = self._collect()
            except QueueServerError as exc:
                self._slots.release()
                if not self._stopping.is_set():
                    self._activity.record_fatal_error(exc)
                return
            if messages:
                self._submit(messages)
            else:
                self._slots.release()

    def close(self) -> None:
        """Wait for the deliveries in progress."""
        self._executor.shutdown()

    def _collect(self) -> list[Message]:
        """Return a batch, or the delivery's window of messages if that many are available."""
        limit = max(self._delivery.window, self._source.batch_size)
        messages = list(self._receive(limit, _POLL_SECONDS))
        while messages and len(messages) < self._delivery.window:
            more = self._receive(limit - len(messages), 0)
            if not more:
                break
            messages += more
        return messages

    def _receive(self, limit: int, wait: int) -> Sequence[Message]:
        response = self._queues.call(
            "ReceiveMessage",
            QueueUrl=self._url,
            MaxNumberOfMessages=min(limit, _MAX_MESSAGES),
            WaitTimeSeconds=wait,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages: list[Message] = response.get("Messages", [])
        return messages

    def _submit(self, messages: Sequence[Message]) -> None:
        """Submit the batches for delivery; this thread already holds the slot of the first."""
        received = time.monotonic()
        batches = self._delivery.make_batches(self._source, messages)
        self._activity.begin(len(batches))
        for number, batch in enumerate(batches):
            if number:
                self._slots.acquire()
            self._executor.submit(self._deliver, batch, received)

    def _deliver(self, batch: Sequence[Message], received: float) -> None:
        try:
            failed = self._invoke_batch(batch)
            self._delete([message for message in batch if message["MessageId"] not in failed])
            self._shorten_visibility([message for message in batch if message["MessageId"] in failed], received)
        except QueueServerError as exc:
            if not self._stopping.is_set():
                self._activity.record_fatal_error(exc)
        finally:
            self._slots.release()
            self._activity.end()

    def _invoke_batch(self, batch: Sequence[Message]) -> set[str]:
        """Invoke the function; return the ids of the messages that stay in the queue."""
        ids = [message["MessageId"] for message in batch]
        if self._stopping.is_set():
            return set(ids)
        try:
            response = self._invoke(self._source.function, build_sqs_event(batch, self._arn))
        except InvocationFailedError as failure:
            if not self._stopping.is_set():
                self._activity.record_failure(failure)
            return set(ids)
        return find_failed_ids(response, ids) if self._source.reports_failures else set()

    def _delete(self, messages: Sequence[Message]) -> None:
        if messages:
            entries = [{"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(messages)]
            self._queues.call("DeleteMessageBatch", QueueUrl=self._url, Entries=entries)

    def _shorten_visibility(self, messages: Sequence[Message], received: float) -> None:
        """Make failed messages reappear at the template's time, if the scaled queue has a longer timeout.

        The local queue server leaves messages unchanged that the function has postponed.
        """
        if not messages or self._scaled_visibility == self._visibility or self._stopping.is_set():
            return
        elapsed = (time.monotonic() - received) / self._time_scale.factor
        remaining = max(0, math.ceil(self._visibility - elapsed))
        entries = [
            {"Id": str(n), "ReceiptHandle": m["ReceiptHandle"], "VisibilityTimeout": remaining}
            for n, m in enumerate(messages)
        ]
        self._queues.call("ChangeMessageVisibilityBatch", QueueUrl=self._url, Entries=entries)
