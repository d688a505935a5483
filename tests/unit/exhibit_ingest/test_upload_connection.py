"""The connection of an upload: who may try it, for how long, and what people see of it."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest

from exhibit_ingest.uploads.connection import Connection, Pace
from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.limits import RateLimit
from exhibit_ingest.uploads.local_files import FileSource, find_file
from exhibit_ingest.uploads.object_upload import ObjectUpload
from exhibit_ingest.uploads.protocols import Progress
from exhibit_ingest.uploads.storage import Storage
from exhibit_ingest.uploads.targets import make_import_target
from exhibit_ingest.uploads.task_queue import Queue
from exhibit_ingest.uploads.tasks import Plan
from tests.support.uploads.fake_stack import FakeStack, Upload


class Clock:
    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_one_request_at_a_time_tries_a_lost_connection() -> None:
    clock = Clock()
    connection = Connection(Pace(), clock)
    one, other = object(), object()
    connection.lose(one)
    connection.lose(other)
    assert not connection.may_start(one)
    clock.now += 1
    assert connection.may_start(one)
    assert not connection.may_start(other)
    connection.move(other)
    assert (connection.lost_s, connection.may_start(other)) == (1, False)
    connection.move(one)
    assert (connection.lost_s, connection.may_start(other)) == (0, True)


def test_bytes_that_are_taken_without_an_answer_do_not_find_a_connection() -> None:
    clock = Clock()
    connection = Connection(Pace(patience_s=300), clock)
    for _ in range(4):
        assert connection.may_start("request")
        connection.move("request")
        # People see that bytes move, until they do not.
        assert connection.lost_s == 0
        clock.now += 60
        connection.lose("request")
        clock.now += connection.pause_s or 0
    assert connection.lost_s > 180
    assert not connection.is_given_up
    clock.now += 120
    assert connection.may_start("request")
    connection.move("request")
    assert connection.is_given_up
    connection.find()
    assert (connection.lost_s, connection.is_given_up) == (0, False)


def test_pauses_grow_to_half_a_minute() -> None:
    clock = Clock()
    connection, pauses = Connection(Pace(), clock), []
    for _ in range(6):
        connection.lose("request")
        pause = connection.pause_s
        assert pause is not None
        pauses.append(pause)
        clock.now += pause
        assert connection.may_start("request")
    for pause, most in zip(pauses, (1, 3, 10, 30, 30, 30), strict=True):
        assert most / 2 <= pause <= most
    assert not connection.is_given_up
    clock.now += 3_600
    assert connection.is_given_up


class Cable(httpx.BaseTransport):
    """The network between a sender and a stack: pulled out until `is_plugged`."""

    def __init__(self, stack: FakeStack) -> None:
        self.stack, self.is_plugged = httpx.MockTransport(stack.answer), False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not self.is_plugged:
            raise httpx.ConnectError("no route to the host")
        return self.stack.handle_request(request)


def test_people_see_that_the_network_is_waited_for(tmp_path: Path) -> None:
    """Time passes when the progress is shown: 4 seconds each time, and an hour is never reached."""
    (tmp_path / "a.dat").write_bytes(bytes(550))
    stack, file, clock = FakeStack(), find_file(tmp_path / "a.dat"), Clock()
    stack.uploads["/imports/1"] = Upload(file.size)
    cable, messages = Cable(stack), list[tuple[str, float | None]]()

    def show(progress: Progress) -> None:
        clock.now += 4
        if progress.status == "offline":
            messages.append((progress.message, progress.rate))
            cable.is_plugged = True

    queue = Queue(Storage(httpx.Client(transport=cable), RateLimit(None)), Pace(delays_s=(0.001,)), clock)
    plan = Plan(1, file.size, ObjectUpload(FileSource(file), make_import_target(stack, 1, None)).begin(0))
    queue.run(plan, show)
    assert stack.uploads["/imports/1"].stored == bytes(550)
    assert messages[0] == (
        "No answer for 4 s; the upload goes on when the connection is back. Ctrl-C keeps what was sent.",
        None,
    )


class SilentServer(httpx.BaseTransport):
    """Takes every byte and never answers: each request ends by its time limit, which is when the clock moved on."""

    def __init__(self) -> None:
        self.arrived, self.moved = threading.Semaphore(0), threading.Semaphore(0)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.arrived.release()
        self.moved.acquire(timeout=60)
        raise httpx.ReadTimeout("no answer")


def test_a_server_that_never_answers_is_shown_and_given_up_after_the_patience(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_bytes(bytes(550))
    stack, file, clock = FakeStack(), find_file(tmp_path / "a.dat"), Clock()
    stack.uploads["/imports/1"] = Upload(file.size)
    server, seen = SilentServer(), list[Progress]()

    def show(progress: Progress) -> None:
        if not seen:
            # One of them still waits when the other one has ended.
            assert all(server.arrived.acquire(timeout=60) for _ in range(2))
        seen.append(progress)
        clock.now += 20
        server.moved.release()

    pace = Pace(delays_s=(0.001,), patience_s=120)
    queue = Queue(Storage(httpx.Client(transport=server), RateLimit(None)), pace, clock)
    plan = Plan(1, file.size, ObjectUpload(FileSource(file), make_import_target(stack, 1, None)).begin(0))
    with pytest.raises(UploadFault, match=r"There was no answer for 2 min 0 s\..*Run the command again"):
        queue.run(plan, show)
    assert "The server has not answered for 20 s." in {each.message for each in seen}
    # Bytes that move in between do not begin the count again.
    assert any(each.status == "offline" and each.message.startswith("No answer for 1 min") for each in seen)
    assert all(each.rate is None for each in seen if each.message)
