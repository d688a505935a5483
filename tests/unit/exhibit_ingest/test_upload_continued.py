"""What a second command does with an upload that another one began: refused meanwhile, continued, or begun again."""

from __future__ import annotations

import dataclasses
import random
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folders import list_folder
from exhibit_ingest.uploads.local_files import LocalFile, find_file
from tests.support.uploads.fake_stack import FakeStack

DATA = random.Random(9).randbytes(350)
REQUEST = {"case": "Case"}


@pytest.fixture
def file(tmp_path: Path) -> LocalFile:
    (tmp_path / "a.dat").write_bytes(DATA)
    return find_file(tmp_path / "a.dat")


def test_a_file_that_another_command_is_sending_is_not_announced_twice(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    refusals: list[str] = []

    def run_another(*_: object) -> None:
        if not refusals:
            refusals.append("")
            with pytest.raises(UploadFault) as caught:
                stack.connect(tmp_path).send_import(file, REQUEST)
            refusals.append(str(caught.value))

    stack.before = run_another
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 1
    assert refusals[1].startswith("Another command is sending a.dat. Wait until it has ended, or end it;")
    assert (list(stack.uploads), stack.uploads["/imports/1"].stored) == (["/imports/1"], DATA)
    # Another folder of the configuration is another user: nothing is shared.
    assert stack.connect(tmp_path / "other").send_import(file, REQUEST).number == 2


def test_a_command_that_was_interrupted_leaves_the_upload_to_the_next_one(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    hanging = threading.Event()

    def hang(request: httpx.Request, _: bytes) -> None:
        if request.url.params["part"] == "4":
            hanging.wait(60)

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    stack.before = hang
    with pytest.raises(KeyboardInterrupt):
        dataclasses.replace(stack.connect(tmp_path), on_progress=interrupt).send_import(file, REQUEST)
    hanging.set()
    stack.before = lambda *_: None
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 1


@pytest.mark.parametrize("status", ["cancelled", "undone", "undo_failed", "failed"])
def test_an_import_that_is_over_is_begun_again(stack: FakeStack, file: LocalFile, tmp_path: Path, status: str) -> None:
    """The command was killed after its upload, and a user undid or cancelled the import since."""
    stack.connect(tmp_path).send_import(file, REQUEST)
    stack.imports[1] = status
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 2
    assert stack.uploads["/imports/2"].stored == DATA


@pytest.mark.parametrize("status", ["running", "checked", "completed", "completed_with_rejections"])
def test_an_import_that_goes_on_is_not_begun_again(
    stack: FakeStack, file: LocalFile, tmp_path: Path, status: str
) -> None:
    stack.connect(tmp_path).send_import(file, {"case": "cASE"})
    stack.imports[1] = status
    assert stack.connect(tmp_path).send_import(file, {"case": "cASE"}).number == 1


@pytest.mark.parametrize("hanging_path", ["/imports", "/imports/1"])
def test_an_interruption_while_the_api_answers_is_continued_without_a_second_import(
    stack: FakeStack, file: LocalFile, tmp_path: Path, hanging_path: str
) -> None:
    """The import is announced, and the answer comes when nothing waits for it any more."""
    request, arrived, answered = stack.request, threading.Event(), threading.Event()

    def answer_late(method: str, path: str, json: Any = None, key: str | None = None) -> Any:
        answer = request(method, path, json, key)
        if path == hanging_path:
            arrived.set()
            answered.wait(60)
            # The process is gone.
            raise SystemExit
        return answer

    def interrupt(_: object) -> None:
        if arrived.is_set():
            raise KeyboardInterrupt

    stack.request = answer_late  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        dataclasses.replace(stack.connect(tmp_path), on_progress=interrupt).send_import(file, REQUEST)
    answered.set()
    stack.request = request  # type: ignore[method-assign]
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 1
    assert [*stack.uploads] == ["/imports/1"]


def test_a_journal_that_cannot_be_written_is_named(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    (tmp_path / "uploads").write_text("a file in the place of the folder")
    with pytest.raises(UploadFault, match=r"journal of uploads, .*uploads, cannot be written: .*Make it writable"):
        stack.connect(tmp_path).send_import(file, REQUEST)
    assert stack.requests == []


def test_a_folder_that_is_sent_twice_at_once_is_one_volume(stack: FakeStack, tmp_path: Path) -> None:
    (tmp_path / "V").mkdir()
    (tmp_path / "V" / "1.bin").write_bytes(DATA)
    request, folder = {"case": "Case", "name": "V"}, list_folder(tmp_path / "V")
    with (
        stack.connect(tmp_path).journal.open("fake", "/volumes", request, folder.fingerprint()).hold(),
        pytest.raises(UploadFault, match="Another command is sending V"),
    ):
        stack.connect(tmp_path).send_folder(folder, request)
    assert stack.connect(tmp_path).send_folder(folder, request).number == 1
