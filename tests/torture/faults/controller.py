"""Decides what happens where: workers call at every point, and each fault of the plan strikes once.

Guarantees: a fault strikes at the n-th visit of its point, counted over all workers since `arm`; a worker that
was stopped goes on after its time, and all do as soon as the controller is disarmed.
"""

from __future__ import annotations

import json
import os
import signal
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import psutil

from tests.torture.faults.injection_points import Action
from tests.torture.faults.planned_faults import PointFault

_LOOK_S = 0.01


class FaultController:
    """Listens on 127.0.0.1 for as long as its block; calls `on_commit` with the number of commits so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str, bool, int], PointFault] = {}
        self._visits: Counter[tuple[str, str, bool]] = Counter()
        self._calm = threading.Event()
        self._passed: dict[str, threading.Event] = {}
        self._stopped: set[int] = set()
        self.commits = 0
        self.struck: list[PointFault] = []
        self.on_commit: Callable[[int], None] = lambda _count: None
        self._server = _Server(self._answer)

    @property
    def address(self) -> str:
        """Where workers find it."""
        return "{}:{}".format(*self._server.server_address[:2])

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disarm()
        self._server.shutdown()
        self._server.server_close()

    def arm(self, faults: Sequence[PointFault]) -> None:
        """From now on these faults; visits count from here."""
        with self._lock:
            self._calm.clear()
            self._waiting = {(each.function, each.label, each.is_after, each.nth): each for each in faults}
            self._passed = {each.until: threading.Event() for each in faults if each.until}
            self._visits.clear()
            self.struck, self.commits = [], 0

    def visited(self) -> set[tuple[str, bool]]:
        """The points, and their sides, at which any worker was since `arm`."""
        with self._lock:
            return {(label, is_after) for _, label, is_after in self._visits}

    def disarm(self) -> None:
        """No more faults, and workers that are stopped go on."""
        with self._lock:
            self._waiting, self.on_commit = {}, lambda _count: None
            stopped, passed = list(self._stopped), list(self._passed.values())
        for event in (self._calm, *passed):
            event.set()
        for pid in stopped:
            _go_on(pid)

    def _answer(self, question: dict[str, Any]) -> str | None:
        point = (question["function"], question["label"], question["is_after"])
        with self._lock:
            self._visits[point] += 1
            fault = self._waiting.pop((*point, self._visits[point]), None)
            if question["is_after"] and question["label"] in self._passed:
                self._passed[question["label"]].set()
            if fault:
                self.struck.append(fault)
            committed = point[1:] == ("commit", True)
            self.commits += committed
            on_commit, count = self.on_commit, self.commits
        if committed:
            on_commit(count)
        if fault and fault.action is Action.STOP:
            threading.Thread(target=self._hold, args=(question["pid"], fault), daemon=True).start()
        return fault.action.name if fault else None

    def _hold(self, pid: int, fault: PointFault) -> None:
        """Let a worker go on that stops itself, once it has stopped and its time is over, or another was at `until`."""
        with self._lock:
            self._stopped.add(pid)
        while _state_of(pid) not in (psutil.STATUS_STOPPED, None):
            threading.Event().wait(_LOOK_S)
        self._passed.get(fault.until, self._calm).wait(fault.seconds)
        with self._lock:
            self._stopped.discard(pid)
        _go_on(pid)


def _state_of(pid: int) -> str | None:
    try:
        state = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return None
    return None if state == psutil.STATUS_ZOMBIE else state


def _go_on(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answer: Callable[[dict[str, Any]], str | None]) -> None:
        self.answer = answer
        super().__init__(("127.0.0.1", 0), _Worker)


class _Worker(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        with suppress(ConnectionError):
            for line in self.rfile:
                self.wfile.write(json.dumps(self.server.answer(json.loads(line))).encode() + b"\n")
