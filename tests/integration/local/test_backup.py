"""A backup has all of a stack at one moment, is found out if it is damaged, and replaces nothing unless it is whole."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from local.backup import backup as backups
from local.backup.archive import MANIFEST
from local.backup.backup import backup
from local.backup.dump import Dump
from local.backup.restore import restore
from local.errors import LocalError
from local.event_sources.sqs_events import build_sqs_event
from local.services.mysql import PrivateServer
from local.services.mysql_connection import connect
from local.stack import LocalStack, StackOptions
from local.stack.options import REPOSITORY
from local.time_scale import TimeScale

MIGRATIONS = REPOSITORY / "shared" / "shell" / "migrations" / "versions"
SCALE = TimeScale(0.05, shortest_timeout=900)
ROWS = 4_500
HOSTILE = 'it\'s \\ a "title"\t\x7f \N{PILE OF POO} 100% \\n'

pytestmark = pytest.mark.slow


def open_stack(state: Path, *, polls: bool = True) -> LocalStack:
    return LocalStack(state, StackOptions(minimal=True, poll_events=polls, migrations=MIGRATIONS, time_scale=SCALE))


def upload(stack: LocalStack, case: str, rows: int) -> None:
    title = HOSTILE.replace('"', '""')
    lines = "".join(f'R{number},"{title} {number}",text {number}\n' for number in range(rows))
    body = f"Control Number,Title,Extracted Text\n{lines}".encode()
    stack.s3.put_object(Bucket=stack.bucket, Key=f"imports/tenant/{case}/one/file.csv", Body=body)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stack with an import that has ended, and another one in the middle of its chunks."""
    state = tmp_path_factory.mktemp("backup") / "state"
    with open_stack(state) as stack:
        upload(stack, "ended", 20)
        stack.wait_until_idle()
        assert stack.failures() == []
    with open_stack(state, polls=False) as stack:
        upload(stack, "begun", ROWS)
        take(stack, "ImportRequestsQueue", "StartImportFunction")
        take(stack, "ImportChunksQueue", "ImportChunkFunction")
    return state


def take(stack: LocalStack, queue: str, function: str) -> None:
    url = stack.queue_url(queue)
    (message,) = stack.sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["All"])["Messages"]
    stack.invoke(function, build_sqs_event([message], stack.template.queue_arn(queue)))
    stack.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


@pytest.fixture(scope="module")
def archive(state: Path) -> Path:
    path = state.parent / "backup.tar"
    backup(state, path)
    return path


def read_database(state: Path) -> dict[str, bytes]:
    """Return the rows of each table, sorted."""
    server = PrivateServer(state / "database")
    server.start()
    try:
        with Dump(server.url("exhibits")) as dump:
            return {table: read_rows(dump, table) for table in dump.list_tables()}
    finally:
        server.stop()


def count_exhibits(state: Path) -> tuple[int, int]:
    """Return how many exhibits there are, and how many different ones."""
    server = PrivateServer(state / "database")
    server.start()
    try:
        with connect(server.url("exhibits")) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) AS n, COUNT(DISTINCT case_id, control_number) AS d FROM exhibits")
            row: Any = cursor.fetchone()
            return row["n"], row["d"]
    finally:
        server.stop()


def read_rows(dump: Dump, table: str) -> bytes:
    file = io.BytesIO()
    dump.write_rows(table, file)
    return file.getvalue()


def read_objects(stack: LocalStack) -> dict[tuple[str, str], bytes]:
    listed = stack.s3.list_object_versions(Bucket=stack.bucket).get("Versions", [])
    return {
        (each["Key"], each["VersionId"]): stack.s3.get_object(
            Bucket=stack.bucket, Key=each["Key"], VersionId=each["VersionId"]
        )["Body"].read()
        for each in listed
    }


def test_a_restored_stack_has_what_the_other_one_had(state: Path, archive: Path, tmp_path: Path) -> None:
    restored = tmp_path / "restored"
    summary = restore(restored, archive)
    assert archive.stat().st_mode & 0o777 == 0o600
    assert (summary.tables["imports"], summary.tables["exhibits"] > 20, summary.objects > 0) == (2, True, True)
    assert read_database(restored) == read_database(state)
    with open_stack(state, polls=False) as stack:
        expected = read_objects(stack)
    with open_stack(restored, polls=False) as stack:
        assert read_objects(stack) == expected
    assert not {"restoring", "restored", "replaced", "backup"} & {path.name for path in restored.iterdir()}


def test_what_was_in_progress_ends_on_the_restored_stack_exactly_once(archive: Path, tmp_path: Path) -> None:
    restore(tmp_path / "state", archive)
    with open_stack(tmp_path / "state") as stack:
        stack.wait_until_idle()
        assert stack.failures() == []
    assert read_database(tmp_path / "state")["imports"].count(b"'completed'") == 2
    assert count_exhibits(tmp_path / "state") == (ROWS + 20, ROWS + 20)


def test_a_backup_beside_a_running_stack_has_what_is_deleted_while_it_is_written(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "state"
    shutil.copytree(state, copy)
    with open_stack(copy, polls=False) as stack:
        before = read_objects(stack)
        delete_while_rows_are_written(stack, monkeypatch)
        backup(copy, tmp_path / "backup.tar")
        assert read_objects(stack) == {}
    restore(tmp_path / "restored", tmp_path / "backup.tar")
    with open_stack(tmp_path / "restored", polls=False) as stack:
        assert read_objects(stack) == before


def delete_while_rows_are_written(stack: LocalStack, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows = Dump.write_rows

    def write(self: Dump, table: str, file: Any) -> int:
        for key, version in read_objects(stack):
            stack.s3.delete_object(Bucket=stack.bucket, Key=key, VersionId=version)
        return write_rows(self, table, file)

    monkeypatch.setattr(Dump, "write_rows", write)


def test_without_the_hold_the_files_are_gone(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control."""
    copy = tmp_path / "state"
    shutil.copytree(state, copy)
    monkeypatch.setattr(backups, "hold_blobs", lambda _: nullcontext())
    with open_stack(copy, polls=False) as stack:
        delete_while_rows_are_written(stack, monkeypatch)
        with pytest.raises(FileNotFoundError):
            backup(copy, tmp_path / "backup.tar")
    assert list(tmp_path.iterdir()) == [copy]


def rewrite(archive: Path, target: Path, change: Any) -> None:
    """Write the members of an archive, each as `change` returns it: name and bytes, or None to leave it out."""
    with tarfile.open(archive) as source, tarfile.open(target, "w") as written:
        for member in source:
            content: Any = source.extractfile(member)
            changed = change(member.name, content.read())
            if changed is not None:
                info = tarfile.TarInfo(changed[0])
                info.size = len(changed[1])
                written.addfile(info, io.BytesIO(changed[1]))


def flip_a_byte(name: str, content: bytes) -> tuple[str, bytes]:
    is_chosen = name.startswith("objects/blobs/") and len(content) > 10
    return name, bytes([content[0] ^ 1]) + content[1:] if is_chosen else content


def leave_out_a_file(name: str, content: bytes) -> tuple[str, bytes] | None:
    return None if name.startswith("objects/blobs/") else (name, content)


def leave_out_the_manifest(name: str, content: bytes) -> tuple[str, bytes] | None:
    return None if name == MANIFEST else (name, content)


def write_elsewhere(name: str, content: bytes) -> tuple[str, bytes]:
    return ("../outside", content) if name == "database/schema.json" else (name, content)


def claim_more_rows(name: str, content: bytes) -> tuple[str, bytes]:
    if name != MANIFEST:
        return name, content
    manifest = json.loads(content)
    manifest["tables"]["exhibits"] += 1
    return name, json.dumps(manifest).encode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (flip_a_byte, "is damaged"),
        (leave_out_a_file, "is damaged"),
        (leave_out_the_manifest, "has no manifest"),
        (write_elsewhere, "a member that no backup has"),
        (claim_more_rows, "table exhibits has"),
    ],
)
def test_a_damaged_backup_changes_nothing(archive: Path, tmp_path: Path, change: Any, said: str) -> None:
    rewrite(archive, tmp_path / "damaged.tar", change)
    state = tmp_path / "state"
    for name in ("database/data", "objects"):
        (state / name).mkdir(parents=True)
    (state / "database" / "data" / "present").write_text("present")
    with pytest.raises(LocalError, match=said):
        restore(state, tmp_path / "damaged.tar", overwrite=True)
    assert {path.name for path in state.rglob("*") if path.is_file()} == {"present", "lock"}
    assert not (tmp_path / "outside").exists()


def test_a_backup_that_was_cut_off_changes_nothing(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.tar").write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    with pytest.raises(LocalError, match=r"cut off|no manifest"):
        restore(tmp_path / "state", tmp_path / "cut.tar")
    assert not (tmp_path / "state" / "database").exists()


def test_a_directory_with_data_is_replaced_only_if_that_was_confirmed(archive: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    (state / "database" / "data").mkdir(parents=True)
    with pytest.raises(LocalError, match="has data already"):
        restore(state, archive)
    restore(state, archive, overwrite=True)
    assert b"'completed'" in read_database(state)["imports"]


def test_a_backup_replaces_no_file_and_needs_a_database(state: Path, archive: Path, tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="exists; give another name"):
        backup(state, archive)
    with pytest.raises(LocalError, match="nothing to back up"):
        backup(tmp_path, tmp_path / "backup.tar")
