"""An import goes on where it was when everything was killed, and ends as if nothing had happened."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from local.services.mysql import PrivateServer
from local.services.mysql_connection import connect
from local.stack import LocalStack, StackOptions
from local.stack.options import REPOSITORY
from local.stack.places import find_storage
from local.time_scale import TimeScale
from tests.support.application.process_ends import wait_until_ended

ROWS = 4_500
MIGRATIONS = REPOSITORY / "shared" / "shell" / "migrations" / "versions"
# Runs the functions of an import by hand, and then says which processes there are: no message is delivered by itself.
SCRIPT = """
import json, sys
from pathlib import Path
import psutil
from local.event_sources.sqs_events import build_sqs_event
from local.stack import LocalStack, StackOptions

state, file, steps = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
with LocalStack(state, StackOptions(minimal=True, poll_events=False, migrations=Path(sys.argv[4]))) as stack:
    stack.s3.put_object(Bucket=stack.bucket, Key="imports/tenant/case/restarted/file.csv", Body=file.read_bytes())
    for queue, function, count, deleted in steps:
        url = stack.queue_url(queue)
        found = stack.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=count, MessageSystemAttributeNames=["All"])
        answer = stack.invoke(function, build_sqs_event(found["Messages"], stack.template.queue_arn(queue)))
        assert not (answer or {}).get("batchItemFailures"), answer
        for message in found["Messages"] if deleted else []:
            stack.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    print(json.dumps([child.pid for child in psutil.Process().children(recursive=True)]), flush=True)
    sys.stdin.read()
"""
START = ("ImportRequestsQueue", "StartImportFunction", 1)
CHUNK = ("ImportChunksQueue", "ImportChunkFunction", 1)
Steps = Sequence[tuple[str, str, int, bool]]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent that was killed"),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with the tables of this version, to be copied."""
    state = tmp_path_factory.mktemp("empty")
    with LocalStack(state, StackOptions(minimal=True, poll_events=False, migrations=MIGRATIONS)):
        pass
    return state


def kill_after(state: Path, steps: Steps) -> None:
    """Begin an import in another process, and kill it with its servers after these steps."""
    file = state.parent / "file.csv"
    rows = "".join(f"R{number},title {number}\n" for number in range(ROWS))
    file.write_text(f"Control Number,Title\n{rows}", encoding="utf-8")
    command = [sys.executable, "-c", SCRIPT, str(state), str(file), json.dumps(steps), str(MIGRATIONS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        children = [psutil.Process(pid) for pid in json.loads(process.stdout.readline())]
        process.kill()
        for child in children:
            child.kill()
        wait_until_ended(children)


def read_all(state: Path, query: str) -> list[tuple[object, ...]]:
    server = PrivateServer(state / "database")
    server.start()
    try:
        with connect(server.url("exhibits")) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return [tuple(row.values()) for row in cursor.fetchall()]
    finally:
        server.stop()


def describe_result(state: Path) -> dict[str, list[tuple[object, ...]]]:
    return {
        "imports": read_all(state, "SELECT status, imported, rejected FROM imports"),
        "exhibits": read_all(state, "SELECT COUNT(*), COUNT(DISTINCT control_number) FROM exhibits"),
        "events": read_all(state, "SELECT COUNT(*) FROM outbox_events WHERE event_type = 'import.completed'"),
    }


def continue_imports(state: Path) -> None:
    """Start everything again, as `serve` does, and wait until nothing is left to do."""
    options = StackOptions(minimal=True, migrations=MIGRATIONS, time_scale=TimeScale(0.05, shortest_timeout=900))
    with LocalStack(state, options) as stack:
        stack.wait_until_idle()
        assert stack.failures() == []


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([], None),
        ([(*START, False)], "running"),
        ([(*START, True), (*CHUNK, True), (*CHUNK, False)], "running"),
        ([(*START, True), (*CHUNK, True), (*CHUNK, True), (*CHUNK, False)], "running"),
    ],
    ids=["uploaded", "split, not deleted", "some chunks imported", "all chunks imported, not completed"],
)
def test_an_import_ends_exactly_once_after_everything_was_killed(
    tmp_path: Path, database: Path, steps: Steps, status: str | None
) -> None:
    state = tmp_path / "state"
    shutil.copytree(database, state)
    kill_after(state, steps)
    assert read_all(state, "SELECT status FROM imports") == ([(status,)] if status else [])
    continue_imports(state)
    assert describe_result(state) == {"imports": [("completed", ROWS, 0)], "exhibits": [(ROWS, ROWS)], "events": [(1,)]}


def test_without_the_messages_the_import_stays_where_it_was(tmp_path: Path, database: Path) -> None:
    """The negative control: the database alone does not continue an import."""
    state = tmp_path / "state"
    shutil.copytree(database, state)
    kill_after(state, [(*START, True)])
    shutil.rmtree(find_storage(state, None))
    continue_imports(state)
    assert read_all(state, "SELECT status FROM imports") == [("running",)]
