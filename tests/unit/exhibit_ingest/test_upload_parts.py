"""A file that is sent in parts to a stack in memory: what is sent again, compared, refused and continued."""

from __future__ import annotations

import dataclasses
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.local_files import LocalFile, find_file
from exhibit_ingest.uploads.protocols import Progress
from tests.support.uploads.fake_stack import QUICK, FakeStack, Reply, error, lose

DATA = random.Random(1).randbytes(1_050)
REQUEST = {"case": "Case"}
PLACE = "/imports/1"
PARTS = 11


@pytest.fixture
def file(tmp_path: Path) -> LocalFile:
    """A file of eleven parts."""
    (tmp_path / "a.dat").write_bytes(DATA)
    return find_file(tmp_path / "a.dat")


def once(part: str, reply: Callable[[], httpx.Response | None]) -> Reply:
    """Answer the first request of a part so."""
    left = [part]

    def before(request: httpx.Request, _: bytes) -> httpx.Response | None:
        if request.url.params["part"] not in left:
            return None
        left.clear()
        return reply()

    return before


def test_a_file_arrives_in_parts_each_sent_once(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    seen: list[Progress] = []
    sent = stack.connect(tmp_path, seen).send_import(file, REQUEST)
    assert (sent.number, stack.uploads[PLACE].stored) == (1, DATA)
    assert set(stack.sent.values()) == {1}
    last = seen[-1]
    assert (last.status, last.files_done, last.bytes_done, last.retries) == ("done", 1, len(DATA), 0)


@pytest.mark.parametrize("size", [0, 1, 199])
def test_a_small_file_arrives_in_one_request(stack: FakeStack, tmp_path: Path, size: int) -> None:
    (tmp_path / "b.dat").write_bytes(DATA[:size])
    stack.connect(tmp_path).send_import(find_file(tmp_path / "b.dat"), REQUEST)
    assert stack.uploads[PLACE].stored == DATA[:size]
    assert stack.sent == {"whole": 1}


@pytest.mark.parametrize("part", ["4", "complete"])
@pytest.mark.parametrize(
    "reply",
    [
        lambda: error(503, "SlowDown"),
        lambda: error(500, "InternalError"),
        lambda: error(200, "InternalError"),
        lambda: error(403, "AccessDenied"),
        lambda: error(400, "RequestTimeout"),
        lambda: error(404, "NoSuchUpload"),
        lambda: httpx.Response(502, text="<!DOCTYPE html><p>Bad gateway"),
        lose,
    ],
)
def test_a_fault_that_passes_costs_one_more_request(
    stack: FakeStack, file: LocalFile, tmp_path: Path, part: str, reply: Callable[[], httpx.Response]
) -> None:
    stack.before = once(part, reply)
    stack.connect(tmp_path).send_import(file, REQUEST)
    assert stack.uploads[PLACE].stored == DATA
    assert stack.sent.total() == PARTS + 2
    assert stack.sent[part] == 2


def test_another_program_may_complete_the_upload(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    def complete_first(request: httpx.Request, _: bytes) -> httpx.Response | None:
        if request.url.params["part"] == "complete":
            stack.uploads[PLACE].stored = DATA
        return None

    stack.before = complete_first
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 1
    assert (stack.uploads[PLACE].stored, stack.sent["complete"]) == (DATA, 1)


def test_urls_that_have_expired_are_signed_anew(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    def refuse_old(request: httpx.Request, _: bytes) -> httpx.Response | None:
        is_old = request.url.params["signature"] == "1"
        return error(403, "AccessDenied") if is_old else None

    stack.before = refuse_old
    stack.connect(tmp_path).send_import(file, REQUEST)
    assert stack.uploads[PLACE].stored == DATA


def test_bytes_that_are_altered_on_the_way_are_sent_again(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    altered: list[bytes] = []

    def alter(body: bytes) -> bytes:
        if body != DATA[300:400] or altered:
            return body
        altered.append(body)
        return body[::-1]

    stack.alter = alter
    stack.connect(tmp_path).send_import(file, REQUEST)
    assert stack.uploads[PLACE].stored == DATA
    assert stack.sent["4"] == 2


def test_bytes_that_are_always_altered_are_never_put_together(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    stack.alter = lambda body: body[::-1] if len(body) == 100 else body
    with pytest.raises(UploadFault, match=r"other bytes of a\.dat"):
        stack.connect(tmp_path).send_import(file, REQUEST)
    assert stack.uploads[PLACE].stored is None


def test_without_a_checksum_of_the_storage_nothing_is_put_together(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    stack.states_checksums = False
    with pytest.raises(UploadFault, match=r"other bytes of a\.dat"):
        stack.connect(tmp_path).send_import(file, REQUEST)
    assert stack.uploads[PLACE].stored is None


def interrupt(stack: FakeStack, file: LocalFile, folder: Path, parts: int) -> None:
    """Send until so many parts are there; every later one finds that the session has ended."""

    def before(*_: object) -> httpx.Response | None:
        return error(400, "Ended") if len(stack.uploads[PLACE].parts) >= parts else None

    stack.before = before
    with pytest.raises(UploadFault, match="Ended"):
        stack.connect(folder).send_import(file, REQUEST)
    stack.before = lambda *_: None
    stack.sent.clear()


def test_the_next_command_sends_what_is_missing(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    interrupt(stack, file, tmp_path, 5)
    there = {str(number) for number in stack.uploads[PLACE].parts}
    seen: list[Progress] = []
    sent = stack.connect(tmp_path, seen).send_import(file, REQUEST)
    assert stack.uploads[PLACE].stored == DATA
    assert len(there) >= 5
    assert not there & set(stack.sent)
    assert seen[-1].already_there == len(there)
    assert (sent.number, len(stack.uploads)) == (1, 1)
    # Until the caller has requested what follows, the same command finds the same import.
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 1
    sent.close()
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 2


def test_a_changed_file_begins_another_import(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    interrupt(stack, file, tmp_path, 5)
    (tmp_path / "a.dat").write_bytes(DATA[::-1])
    sent = stack.connect(tmp_path).send_import(find_file(file.file), REQUEST)
    assert (sent.number, stack.uploads["/imports/2"].stored) == (2, DATA[::-1])


def test_other_options_begin_another_import(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    interrupt(stack, file, tmp_path, 5)
    assert stack.connect(tmp_path).send_import(file, {**REQUEST, "hold": True}).number == 2


def test_parts_with_other_bytes_are_sent_again(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    """As if the file had been changed, and its time and both its ends restored."""
    interrupt(stack, file, tmp_path, 5)
    upload = stack.uploads[PLACE]
    first = min(upload.parts)
    upload.parts[first] = ('"other"', bytes(len(upload.parts[first][1])))
    stack.connect(tmp_path).send_import(file, REQUEST)
    assert upload.stored == DATA
    assert stack.sent[str(first)] == 1


def test_a_number_of_another_database_is_not_taken_for_the_upload(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    interrupt(stack, file, tmp_path, 5)
    stack.created = "2026-11-28"
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 2


@pytest.mark.parametrize(
    ("status", "number"),
    [("splitting", 1), ("running", 1), ("completed", 1), ("failed", 2), ("cancelled", 2), ("undone", 2)],
)
def test_an_import_whose_command_was_killed_is_not_doubled(
    stack: FakeStack, file: LocalFile, tmp_path: Path, status: str, number: int
) -> None:
    assert not stack.connect(tmp_path).send_import(file, REQUEST).is_earlier
    stack.imports[1] = status
    sent = stack.connect(tmp_path).send_import(file, REQUEST)
    assert (sent.number, sent.is_earlier) == (number, number == 1)
    sent.close()
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == number + 1


@pytest.mark.parametrize("is_gone", [True, False])
def test_an_upload_that_the_stack_has_lost_is_begun_again(
    stack: FakeStack, file: LocalFile, tmp_path: Path, is_gone: bool
) -> None:
    interrupt(stack, file, tmp_path, 5)
    if is_gone:
        stack.uploads[PLACE].is_gone = True
    else:
        del stack.uploads[PLACE]
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 2
    assert stack.uploads["/imports/2"].stored == DATA


def test_a_file_that_changes_while_it_is_sent_is_refused(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    def change(request: httpx.Request, _: bytes) -> None:
        if request.url.params["part"] == "11":
            # The size stays.
            os.utime(file.file, ns=(1, 1))

    stack.before = change
    with pytest.raises(UploadFault, match=r"a\.dat was changed.*begins a new upload"):
        stack.connect(tmp_path).send_import(file, REQUEST)
    assert stack.uploads[PLACE].stored is None


def test_the_journal_has_no_url_and_no_token(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    interrupt(stack, file, tmp_path, 5)
    (entry,) = (tmp_path / "uploads").glob("*.json")
    text = entry.read_text()
    assert "http" not in text
    assert "signature" not in text
    assert '"number": 1' in text
    entry.write_text(text[: len(text) // 2])
    # A torn entry is as none.
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 2


def test_a_lost_network_is_waited_for_and_given_up_after_the_patience(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    stack.before = lambda *_: lose()
    patient = dataclasses.replace(stack.connect(tmp_path), pace=QUICK._replace(patience_s=4))
    with pytest.raises(UploadFault, match="There was no answer for"):
        patient.send_import(file, REQUEST)
    # At once at first, then one after the other.
    assert stack.sent.total() > 8
    stack.before = lambda *_: None
    assert stack.connect(tmp_path).send_import(file, REQUEST).number == 1


def test_a_page_of_a_proxy_is_not_taken_for_success(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    stack.before = lambda *_: httpx.Response(200, text="<html>Accept the terms of this network</html>")
    with pytest.raises(UploadFault, match="A web page answered instead of the storage"):
        stack.connect(tmp_path).send_import(file, REQUEST)


def test_an_interruption_ends_the_requests_and_keeps_what_was_sent(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    hanging = threading.Event()

    def hang(request: httpx.Request, _: bytes) -> httpx.Response | None:
        if request.url.params["part"] != "11":
            return None
        hanging.wait(60)
        return lose()

    def interrupt_late(progress: Progress) -> None:
        if progress.bytes_done >= 1_000:
            raise KeyboardInterrupt

    stack.before = hang
    connected = dataclasses.replace(stack.connect(tmp_path), on_progress=interrupt_late)
    with pytest.raises(KeyboardInterrupt):
        connected.send_import(file, REQUEST)
    hanging.set()
    stack.before = lambda *_: None
    assert stack.uploads[PLACE].stored is None
    stack.sent.clear()
    stack.connect(tmp_path).send_import(file, REQUEST)
    assert (stack.uploads[PLACE].stored, stack.sent) == (DATA, {"11": 1, "complete": 1})
