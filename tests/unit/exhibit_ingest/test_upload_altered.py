"""Bytes that are not those that were declared, and answers of a stack that contradict themselves."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folders import list_folder
from exhibit_ingest.uploads.local_files import LocalFile, find_file
from exhibit_ingest.uploads.task_queue import _SIGNED_AGAIN
from tests.support.uploads.fake_stack import FakeStack, error

DATA = random.Random(7).randbytes(350)
VOLUME, IMPORT = {"case": "Case", "name": "V"}, {"case": "Case"}


@pytest.fixture
def file(tmp_path: Path) -> LocalFile:
    """A file of four parts."""
    (tmp_path / "a.dat").write_bytes(DATA)
    return find_file(tmp_path / "a.dat")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "V").mkdir()
    (tmp_path / "V" / "1.bin").write_bytes(DATA[:50])
    return tmp_path / "V"


def rewrite(file: Path) -> None:
    """Change a file without a change of its size and its time, as some programs do."""
    changed = file.stat().st_mtime_ns
    file.write_bytes(file.read_bytes()[::-1])
    os.utime(file, ns=(changed, changed))


def test_a_file_that_was_changed_since_it_was_declared_is_named_at_once(
    stack: FakeStack, root: Path, tmp_path: Path
) -> None:
    def change(*_: object) -> None:
        if stack.sent.total() == 1:
            rewrite(root / "1.bin")

    stack.before = change
    # The bytes were read before the change, and those of the second command after it.
    stack.connect(tmp_path).send_folder(list_folder(root), VOLUME)
    stack.volumes[1], stack.uploads["/volumes/1/1.bin"].stored = "open", None
    # The volume has another file under this name.
    assert stack.connect(tmp_path).send_folder(list_folder(root), VOLUME).number == 2


def test_a_file_that_changes_between_its_hash_and_its_upload_is_sent_once(
    stack: FakeStack, root: Path, tmp_path: Path
) -> None:
    request = stack.request

    def declare(method: str, path: str, json: Any = None, key: str | None = None) -> Any:
        answer = request(method, path, json, key)
        if path.endswith("/files"):
            rewrite(root / "1.bin")
        return answer

    stack.request = declare  # type: ignore[method-assign]
    with pytest.raises(UploadFault, match=r"^1\.bin was changed") as caught:
        stack.connect(tmp_path).send_folder(list_folder(root), VOLUME)
    assert (caught.value.code, stack.sent) == ("FILE_CHANGED", {"whole": 1})
    stack.request = request  # type: ignore[method-assign]
    assert stack.connect(tmp_path).send_folder(list_folder(root), VOLUME).number == 2


def test_a_file_that_changes_after_a_part_was_sent_and_before_its_checksum_is_computed_is_named(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    first = iter([True])

    def change(*_: object) -> None:
        if next(first, False):
            rewrite(tmp_path / "a.dat")

    stack.before = change
    with pytest.raises(UploadFault, match=r"^a\.dat was changed"):
        stack.connect(tmp_path).send_import(file, IMPORT)
    assert stack.uploads["/imports/1"].stored is None


def test_bytes_of_a_whole_file_that_are_altered_on_the_way_are_sent_again(
    stack: FakeStack, root: Path, tmp_path: Path
) -> None:
    stack.alter = lambda body: body[::-1] if stack.sent.total() == 1 else body
    stack.connect(tmp_path).send_folder(list_folder(root), VOLUME)
    assert (stack.uploads["/volumes/1/1.bin"].stored, stack.sent.total()) == (DATA[:50], 2)


def test_the_checksum_in_the_answer_proves_a_part_without_the_list_of_parts(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    stack.answers_checksums, stack.states_checksums = True, False
    stack.connect(tmp_path).send_import(file, IMPORT)
    assert (stack.uploads["/imports/1"].stored, stack.sent.total()) == (DATA, 5)
    assert ("GET", "/imports/1/upload") not in stack.requests


def test_a_part_whose_answer_has_another_checksum_is_sent_again(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    stack.answers_checksums = True
    stack.alter = lambda body: body[::-1] if body == DATA[:100] and stack.sent["1"] == 1 else body
    stack.connect(tmp_path).send_import(file, IMPORT)
    assert (stack.uploads["/imports/1"].stored, stack.sent["1"]) == (DATA, 2)


@pytest.mark.parametrize("altered", range(4))
def test_where_etags_are_md5_they_alone_prove_the_parts(
    stack: FakeStack, file: LocalFile, tmp_path: Path, altered: int
) -> None:
    stack.has_md5_etags, stack.states_checksums = True, False
    part, number = DATA[100 * altered : 100 * altered + 100], str(altered + 1)
    stack.alter = lambda body: body[::-1] if body == part and stack.sent[number] == 1 else body
    stack.connect(tmp_path).send_import(file, IMPORT)
    assert (stack.uploads["/imports/1"].stored, stack.sent[number]) == (DATA, 2)


def test_a_small_import_that_arrived_with_other_bytes_is_refused(stack: FakeStack, tmp_path: Path) -> None:
    (tmp_path / "b.dat").write_bytes(DATA[:50])
    stack.answers_checksums, stack.alter = True, lambda body: body[::-1]
    with pytest.raises(UploadFault, match=r"other bytes of b\.dat"):
        stack.connect(tmp_path).send_import(find_file(tmp_path / "b.dat"), IMPORT)


def test_a_bucket_that_refuses_new_urls_too_is_not_waited_for(
    stack: FakeStack, file: LocalFile, tmp_path: Path
) -> None:
    stack.before = lambda *_: error(403, "AccessDenied")
    with pytest.raises(UploadFault, match=r"The bucket refuses this user, network or address"):
        stack.connect(tmp_path).send_import(file, IMPORT)
    assert stack.sent["1"] <= _SIGNED_AGAIN + 1


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts[:-1],
        lambda parts: parts[1:],
        lambda parts: [*parts[:1], {**parts[1], "firstByte": 99}, *parts[2:]],
        lambda parts: [{**each, "size": each["size"] + 1} for each in parts],
        lambda _: [],
    ],
)
def test_parts_that_are_not_the_whole_file_are_not_put_together(
    stack: FakeStack, file: LocalFile, tmp_path: Path, change: Callable[[list[Any]], list[Any]]
) -> None:
    sign = stack.sign
    stack.sign = lambda place: {**sign(place), "parts": change(sign(place)["parts"])}  # type: ignore[method-assign]
    with pytest.raises(UploadFault, match="not the whole of it"):
        stack.connect(tmp_path).send_import(file, IMPORT)
    assert stack.sent == {}


def test_an_api_that_declares_no_file_ends_the_upload(stack: FakeStack, root: Path, tmp_path: Path) -> None:
    request = stack.request

    def declare(method: str, path: str, json: Any = None, key: str | None = None) -> Any:
        return {"items": []} if path.endswith("/files") else request(method, path, json, key)

    stack.request = declare  # type: ignore[method-assign]
    with pytest.raises(UploadFault, match="declared none of the files"):
        stack.connect(tmp_path).send_folder(list_folder(root), VOLUME)


def test_a_url_that_cannot_be_used_ends_the_upload(stack: FakeStack, file: LocalFile, tmp_path: Path) -> None:
    stack._url = lambda place, part: f"ftp://bucket.test{place}?part={part}"  # type: ignore[method-assign]
    connected = stack.connect(tmp_path)
    connected.http._transport = httpx.HTTPTransport(trust_env=False)
    with pytest.raises(UploadFault, match="a URL or a header that cannot be used"):
        connected.send_import(file, IMPORT)
