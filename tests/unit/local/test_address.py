"""What the owner of a state directory publishes for other commands."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, TextIO

import pytest

from exhibit_ingest.undo.output import describe_stopped
from local.command.workspace import Workspace
from local.errors import LocalError, StackBusyError
from local.lambda_runtime.activity import Activity
from local.lambda_runtime.fork_server import ForkLoop
from local.lambda_runtime.invocation import InvocationFailedError
from local.private_files import read_or_create_secret
from local.services.state_lock import ADDRESS_FILE, lock_state_directory, publish_address, read_address
from local.stack import served_stack
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.stack.schema import prepare_schema
from local.stack.served_stack import ServeAddress, ServedStack

_PUBLISH = """
import sys, time
from pathlib import Path
from local.services.state_lock import publish_address
with publish_address(Path(sys.argv[1]), {"pid": 1}):
    print("published", flush=True)
    sys.stdin.read()
"""
_PRIVATE = "mysql+pymysql://root@127.0.0.1:3999/exhibits?charset=utf8mb4"


def address(folder: Path, database: str = _PRIVATE, *, is_private: bool = True) -> dict[str, str | int]:
    return {
        "pid": 4711,
        "database": database,
        "is_private": is_private,
        "endpoint": "http://127.0.0.1:1",
        "bucket": "evidence",
        "logs": str(folder),
    }


def find(folder: Path, database_url: str | None = None) -> ServedStack | None:
    return ServedStack.find(folder, DEFAULT_TEMPLATE, database_url)


def test_an_address_is_readable_while_it_is_published_and_by_its_owner_alone(tmp_path: Path) -> None:
    with publish_address(tmp_path, {"pid": 1}):
        assert read_address(tmp_path) == {"pid": 1}
        assert (tmp_path / ADDRESS_FILE).stat().st_mode & 0o777 == 0o600
    assert read_address(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_the_address_of_a_killed_process_is_stale_and_can_be_replaced(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PUBLISH, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert read_address(tmp_path) == {"pid": 1}
        process.kill()
        process.wait()
    assert (tmp_path / ADDRESS_FILE).exists()
    assert read_address(tmp_path) is None
    with publish_address(tmp_path, {"pid": 2}):
        assert read_address(tmp_path) == {"pid": 2}


def test_what_another_version_adds_to_its_address_is_ignored(tmp_path: Path) -> None:
    with publish_address(tmp_path, {**address(tmp_path), "console": "http://127.0.0.1:2"}):
        served = find(tmp_path)
        assert served is not None
        with pytest.raises(ConnectionError), served:
            raise ConnectionError


@pytest.mark.parametrize("other", [{"pid": 1, "bucket": "evidence"}, ["pid"], "pid", 1])
def test_an_address_of_another_version_is_refused_with_what_to_do(tmp_path: Path, other: Any) -> None:
    with publish_address(tmp_path, other), pytest.raises(LocalError, match=r"another version.*Stop it"):
        find(tmp_path)


def test_the_draft_of_an_address_whose_writer_was_killed_is_deleted_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / f"{ADDRESS_FILE}.x1y2").touch()
    with lock_state_directory(tmp_path), publish_address(tmp_path, address(tmp_path)):
        assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", ADDRESS_FILE]


def test_a_command_that_publishes_nothing_has_no_stack_for_others(tmp_path: Path) -> None:
    (tmp_path / ADDRESS_FILE).write_text(json.dumps(address(tmp_path)))
    with lock_state_directory(tmp_path), pytest.raises(StackBusyError), lock_state_directory(tmp_path):
        pass
    assert find(tmp_path) is None


def test_an_error_of_a_service_is_reported_as_the_end_of_serve_only_after_it(tmp_path: Path) -> None:
    with publish_address(tmp_path, address(tmp_path)):
        served = find(tmp_path)
        assert served is not None
        with pytest.raises(ConnectionError), served:
            raise ConnectionError
    with pytest.raises(LocalError, match="ended during the import") as raised, served:
        raise ConnectionError
    assert isinstance(raised.value.__cause__, ConnectionError)


def test_the_end_of_serve_during_an_undo_does_not_advise_an_import(tmp_path: Path) -> None:
    with lock_state_directory(tmp_path), publish_address(tmp_path, address(tmp_path)):
        served = Workspace(tmp_path).connect(1, f"ended during the undo. {describe_stopped(12, [])}")
    with (
        pytest.raises(
            LocalError, match=r"`serve` \(process 4711\) ended during the undo.*Do not import the file"
        ) as raised,
        served,
    ):
        raise ConnectionError
    assert "Import the file again" not in str(raised.value)


def test_the_password_of_the_private_database_is_in_the_url_and_not_in_the_address(tmp_path: Path) -> None:
    password = read_or_create_secret(tmp_path / "database" / "password")
    with publish_address(tmp_path, address(tmp_path)):
        served = find(tmp_path)
    assert served is not None
    assert served.database_url == _PRIVATE.replace("root@", f"root:{password}@")


@pytest.mark.parametrize(
    ("published", "is_private", "mine", "message"),
    [
        (_PRIVATE, True, "mysql+pymysql://me:pw@db:3306/exhibits", "the private database, not the database that"),
        ("mysql+pymysql://me:***@db/exhibits", False, None, "DATABASE_URL is not set here"),
        ("mysql+pymysql://me:***@db/exhibits", False, "mysql+pymysql://me:pw@db/other", "not the database that"),
        ("mysql+pymysql://me:***@db/exhibits", False, "mysql+pymysql://me:pw@db2/exhibits", "not the database that"),
    ],
)
def test_a_serve_with_another_database_is_refused_without_a_password(
    tmp_path: Path, published: str, is_private: bool, mine: str | None, message: str
) -> None:
    publication = publish_address(tmp_path, address(tmp_path, published, is_private=is_private))
    with publication, pytest.raises(LocalError, match=message) as refused:
        find(tmp_path, mine)
    assert "pw" not in str(refused.value)


def test_the_callers_own_url_is_used_for_the_same_database(tmp_path: Path) -> None:
    mine = "mysql+pymysql://me:pw@db:3306/exhibits?charset=utf8mb4"
    with publish_address(tmp_path, address(tmp_path, "mysql+pymysql://me:***@db/exhibits", is_private=False)):
        served = find(tmp_path, mine)
    assert served is not None
    assert served.database_url == mine


def test_only_failures_from_now_on_are_reported(tmp_path: Path) -> None:
    activity = Activity(tmp_path / "failures.log")

    def fail(error_type: str) -> None:
        trace = ["  File x failed: y: z\n"]
        activity.record_failure(InvocationFailedError("Work", error_type, "boom (log: it)", tmp_path / "w.log", trace))

    fail("Earlier")
    with publish_address(tmp_path, address(tmp_path)):
        served = find(tmp_path)
    assert served is not None
    assert served.failures() == []
    fail("Runtime.ExitError")
    [raised] = served.failures()
    assert str(raised) == str(activity.failures()[-1])
    assert (raised.function, raised.error_type, raised.message) == ("Work", "Runtime.ExitError", "boom (log: it)")
    assert os.fspath(raised.log) == os.fspath(tmp_path / "w.log")


def test_a_lock_on_a_file_that_reset_deletes_meanwhile_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock
    deleted: list[bool] = []

    def delete_then_lock(file: TextIO, how: int) -> None:
        if not deleted:
            (tmp_path / "lock").unlink()
            deleted.append(True)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", delete_then_lock)
    with lock_state_directory(tmp_path), pytest.raises(StackBusyError), lock_state_directory(tmp_path):
        pass


@pytest.mark.parametrize(
    "place", ["me:secret@db/exhibits", "me@db:3307/exhibits", "me@/exhibits?unix_socket=/run/db.sock&password=secret"]
)
def test_the_published_database_has_no_password_and_is_the_callers(place: str) -> None:
    url = f"mysql+pymysql://{place}"
    published = served_stack._strip_url(url)
    assert "secret" not in published
    served_stack._check_database(ServeAddress(1, published, False, "", "", ""), url)


def test_a_database_that_does_not_answer_is_reported_with_what_to_check() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"mysql+pymysql://root@127.0.0.1:{free.getsockname()[1]}/exhibits?charset=utf8mb4"
        with pytest.raises(LocalError, match=r"database error 2003: .*; check DATABASE_URL"):
            prepare_schema(url, None)


def test_a_failed_fork_is_the_failure_of_one_start(monkeypatch: pytest.MonkeyPatch) -> None:
    replies, writer = os.pipe()

    def refuse() -> int:
        raise OSError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(os, "fork", refuse)
    # Without its constructor, which sets the signal handlers of a process of its own.
    server = ForkLoop.__new__(ForkLoop)
    server._replies = writer
    assert not server._fork(7)
    assert json.loads(os.read(replies, 1000)) == {"failed": 7, "error": "[Errno 11] no more processes"}
    os.close(replies)
    os.close(writer)
