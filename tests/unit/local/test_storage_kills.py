"""A process that is killed at any point leaves whole objects, and no file that no object names."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from local.storage.blobs import Blobs, Written, hold_blobs
from local.storage.content import Content
from local.storage.storage import Segment, Storage
from local.storage.stored_keys import write_time
from local.storage.versions import Version, Versions

BUCKET, DATA = "bucket", b"page " * 1000
Step = Callable[[Storage], None]


def kill_me(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def put(storage: Storage, name: str = "new") -> None:
    """Store an object as a request does."""
    add(storage, name, storage.blobs.write(DATA))


def add(storage: Storage, name: str, body: Written) -> None:
    with storage.index.transaction():
        content = storage.add_content([Segment(body.blob, 0, body.size)])
        Versions(storage).add(BUCKET, Version(0, name, name, content, body.size, body.md5, write_time(), {}))


def delete(storage: Storage) -> None:
    """Delete the object that was there before."""
    with storage.index.transaction():
        Versions(storage).delete(Versions(storage).list_of(BUCKET, "old"))


def put_and_delete(storage: Storage) -> None:
    put(storage)
    delete(storage)


def kill_before_the_commit(storage: Storage) -> None:
    with storage.index.transaction():
        storage.index.before_commit(kill_me)
        put_and_delete(storage)


def kill_after_the_commit(storage: Storage) -> None:
    storage.blobs.keep = kill_me  # type: ignore[method-assign, assignment]
    put(storage)


def kill_before_the_files_go(storage: Storage) -> None:
    storage.blobs.delete = kill_me  # type: ignore[method-assign, assignment]
    put_and_delete(storage)


def kill_when_the_files_have_gone(storage: Storage) -> None:
    storage.blobs.unless_held = kill_me  # type: ignore[assignment, method-assign]
    put_and_delete(storage)


def kill_with_half_a_body(storage: Storage) -> None:
    storage.blobs.draft().write(DATA[:100])
    kill_me()


def run_killed(folder: Path, step: Step) -> None:
    """Run a step in another process, which it kills."""

    def run() -> None:
        step(Storage(folder))

    child = get_context("fork").Process(target=run)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL


class UnfinishedStorage(Storage):
    """A storage that leaves what was interrupted as it is."""

    def _finish_interrupted(self) -> None: ...


def find_faults(folder: Path, kind: type[Storage] = Storage) -> list[str]:
    """Return what is wrong with the storage after a start: objects that are not whole, files without an object."""
    storage = kind(folder)
    faults, named = [], set[str]()
    for version in Versions(storage).walk_latest(BUCKET, "", ""):
        segments = storage.read_segments(version.content or 0)
        named |= {segment.blob for segment in segments}
        try:
            if Content(storage.blobs, segments).read() != DATA:
                faults.append(f"{version.name} has other bytes")
        except OSError as error:
            faults.append(f"{version.name}: {error}")
    files = {path.name for place in ("blobs", "drafts") for path in (folder / place).rglob("*") if path.is_file()}
    storage.close()
    return faults + [f"{name} is left" for name in files - named]


def list_names(folder: Path) -> list[str]:
    storage = Storage(folder)
    names = [version.name for version in Versions(storage).walk_latest(BUCKET, "", "")]
    storage.close()
    return names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    storage = Storage(tmp_path / "objects")
    put(storage, "old")
    storage.close()
    return tmp_path / "objects"


@pytest.mark.parametrize(
    ("step", "names"),
    [
        (kill_with_half_a_body, ["old"]),
        (kill_before_the_commit, ["old"]),
        (kill_after_the_commit, ["new", "old"]),
        (kill_before_the_files_go, ["new"]),
        (kill_when_the_files_have_gone, ["new"]),
    ],
)
def test_a_kill_leaves_whole_objects_and_no_file_without_one(folder: Path, step: Step, names: list[str]) -> None:
    run_killed(folder, step)
    assert find_faults(folder) == []
    assert list_names(folder) == names


def test_an_object_that_is_named_before_its_bytes_are_there_is_found_to_be_half(folder: Path) -> None:
    """The negative control: the order that `put` must not have."""

    def name_too_early(storage: Storage) -> None:
        draft = storage.blobs.draft()
        draft.write(DATA[:100])
        add(storage, "new", Written(draft.blob, len(DATA), "", 0, None))
        kill_me()

    run_killed(folder, name_too_early)
    assert [fault.partition(":")[0] for fault in find_faults(folder)] == ["new"]


def test_a_file_that_nothing_deletes_later_is_found(folder: Path) -> None:
    """The negative control: a start that does not finish what was interrupted."""
    run_killed(folder, kill_before_the_files_go)
    assert len(find_faults(folder, UnfinishedStorage)) == 1


def test_a_backup_keeps_the_files_of_what_is_deleted_meanwhile(folder: Path) -> None:
    storage = Storage(folder)
    (segment,) = storage.read_segments(Versions(storage).list_of(BUCKET, "old")[0].content or 0)
    with hold_blobs(folder):
        delete(storage)
        assert Blobs(folder).find(segment.blob).exists()
    put(storage)
    storage.delete_doomed()
    assert not Blobs(folder).find(segment.blob).exists()


def test_only_the_owner_reads_what_is_stored(folder: Path) -> None:
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}
    assert {path for path in folder.rglob("*") if path.stat().st_mode & 0o077} == set()
    assert modes == {True: 0o700, False: 0o600}
