"""Runs the requests of an upload, eight at a time, and says how far it is.

Guaranteed: a task that was interrupted by the network is run again, and none is lost or run twice at once; a fault that
passes is tried again, with growing pauses of random length; without a connection nothing is given up for an hour. A
task that fails for good takes those of the same file with it; the others are run. An interruption, such as Ctrl-C, ends
all requests at once.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from itertools import count

from exhibit_ingest.uploads.connection import Connection, Pace
from exhibit_ingest.uploads.faults import AGAIN, UploadFault, to_fault
from exhibit_ingest.uploads.meter import Meter, estimate_seconds, format_time
from exhibit_ingest.uploads.protocols import OnProgress, Progress, Status
from exhibit_ingest.uploads.running import Run, StoppedError
from exhibit_ingest.uploads.storage import Storage
from exhibit_ingest.uploads.tasks import Plan, Task, UploadFailedError

AT_ONCE, _SHOW_S, _JOIN_S, _SIGNED_AGAIN = 8, 0.2, 2.0, 3
# A connection that is lost for less is not worth a message, nor an answer that takes less.
_UNNOTICED_S, _SILENT_S = 3.0, 10.0
_LOST = "No answer for {time}; the upload goes on when the connection is back. Ctrl-C keeps what was sent."
_SILENT = "The server has not answered for {time}."


class Queue:
    """Runs one plan."""

    def __init__(self, storage: Storage, pace: Pace, clock: Callable[[], float] = time.monotonic) -> None:
        self.storage, self.clock, self._pace = storage, clock, pace
        self.stopped, self.changed = threading.Event(), threading.Condition()
        self._ready: deque[Task] = deque()
        self._running: dict[Task, Run] = {}
        self._waiting: list[tuple[float, int, Task]] = []
        self._order, self._attempts = count(), Counter[Task]()
        self._failures: dict[str, UploadFault] = {}
        self._error: BaseException | None = None
        self.connection, self._meter = Connection(pace, clock), Meter(clock)
        self.done = Counter[str]()

    def run(self, plan: Plan, on_progress: OnProgress) -> None:
        """Run all tasks; call `on_progress` in this thread, now and then and at the end, also that of an interruption.

        Raises UploadFailedError if something was not sent, and what else a task raises.
        """
        self._ready.append(plan.first)
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(AT_ONCE)]
        try:
            for worker in workers:
                worker.start()
            while self._wait_for_end():
                on_progress(self._describe(plan))
        finally:
            self._stop(workers)
            on_progress(self._describe(plan))
        if self._error is not None:
            raise self._error
        if self._failures:
            raise UploadFailedError(self._failures)

    def _wait_for_end(self) -> bool:
        """Wait until the progress is to be shown; return whether something is left to do."""
        with self.changed:
            return not self.changed.wait_for(self._is_over, _SHOW_S)

    def _is_over(self) -> bool:
        return self.stopped.is_set() or not (self._ready or self._running or self._waiting)

    def _stop(self, workers: list[threading.Thread]) -> None:
        self.stopped.set()
        with self.changed:
            self.changed.notify_all()
        until = time.monotonic() + _JOIN_S
        for worker in workers:
            if worker.ident is not None:
                worker.join(max(until - time.monotonic(), 0))

    def _work(self) -> None:
        while (task := self._take()) is not None:
            try:
                task.run(self._running[task])
            except StoppedError:
                return
            except BaseException as error:
                self._handle(task, error)
            else:
                self._finish(task)

    def _take(self) -> Task | None:
        """Return a task that may start, once there is one; None at the end."""
        with self.changed:
            while not self._is_over():
                while self._waiting and self._waiting[0][0] <= self.clock():
                    self._ready.appendleft(heapq.heappop(self._waiting)[2])
                if self._ready and self.connection.may_start(self._ready[0]):
                    task = self._ready.popleft()
                    self._running[task] = Run(self, task)
                    return task
                self.changed.wait(self._get_pause())
        return None

    def _get_pause(self) -> float | None:
        due = [self._waiting[0][0] - self.clock()] if self._waiting else []
        if self._ready and (pause := self.connection.pause_s) is not None:
            due.append(pause)
        return max(min(due), 0.01) if due else None

    def add(self, tasks: list[Task]) -> None:
        """Run these next."""
        with self.changed:
            self._ready.extendleft(reversed(tasks))
            self.changed.notify_all()

    def _finish(self, task: Task) -> None:
        with self.changed:
            self._end(task)
            self.connection.find()
            self.done.update(files=task.files, bytes=task.bytes)

    def _end(self, task: Task) -> None:
        del self._running[task]
        self._attempts.pop(task, None)
        self.changed.notify_all()

    def _handle(self, task: Task, error: BaseException) -> None:
        fault = to_fault(error, task.path)
        with self.changed:
            attempt = self._attempts[task]
            self._end(task)
            if fault is None:
                self._error = self._error or error
                self.stopped.set()
            elif fault.kind == "network":
                self._wait_for_network(task, fault)
            elif fault.kind in ("final", "halt") or attempt >= self._get_attempts(fault):
                self.connection.find()
                self._fail(task, fault)
            else:
                self.connection.find()
                self._try_again(task, fault, attempt)

    def _get_attempts(self, fault: UploadFault) -> int:
        # What new URLs do not cure is a right that is missing: waiting does not help.
        return min(_SIGNED_AGAIN, self._pace.attempts) if fault.kind == "expired" else self._pace.attempts

    def _wait_for_network(self, task: Task, fault: UploadFault) -> None:
        self.connection.lose(task)
        self.done["retries"] += 1
        if self.connection.is_given_up:
            message = f"There was no answer for {format_time(self._pace.patience_s)}. {fault.message}"
            self._fail(task, UploadFault("halt", fault.code, message, AGAIN))
        else:
            self._ready.appendleft(task)

    def _try_again(self, task: Task, fault: UploadFault, attempt: int) -> None:
        self._attempts[task] = attempt + 1
        self.done["retries"] += 1
        # What is cured by new URLs needs no wait, once.
        delay = 0.0 if attempt == 0 and fault.kind != "busy" else self._pace.choose_delay(attempt)
        heapq.heappush(self._waiting, (self.clock() + delay, next(self._order), task))

    def _fail(self, task: Task, fault: UploadFault) -> None:
        self._failures.setdefault(task.path, fault)
        self._ready = deque(each for each in self._ready if each.path != task.path)
        self._waiting = [each for each in self._waiting if each[2].path != task.path]
        heapq.heapify(self._waiting)
        if fault.kind == "halt":
            self.stopped.set()

    def _describe(self, plan: Plan) -> Progress:
        with self.changed:
            sent = sum(min(run.sent, task.bytes) for task, run in self._running.items())
            done = self.done["bytes"] + sent
            status, message = self._explain_state()
            if message:
                self._meter.restart()
            rate = None if status == "done" or message else self._meter.measure(done)
            return Progress(
                status=status,
                files_done=self.done["files"],
                files=plan.files,
                bytes_done=done,
                bytes=plan.bytes,
                rate=rate,
                seconds_left=estimate_seconds(rate, plan.bytes - done),
                retries=self.done["retries"],
                already_there=self.done["there"],
                message=message,
            )

    def _explain_state(self) -> tuple[Status, str]:
        """Return the state, and the sentence for what is waited for, empty while bytes move."""
        if self._is_over():
            return "done", ""
        lost_s, still_s = self.connection.lost_s, self.connection.still_s
        if lost_s > _UNNOTICED_S:
            return "offline", _LOST.format(time=format_time(lost_s))
        if self._waiting and not self._running:
            return "waiting", ""
        if still_s > _SILENT_S and any(run.is_requesting for run in self._running.values()):
            return "waiting", _SILENT.format(time=format_time(still_s))
        return "moving", ""
