"""Folders that are sent: what is listed, what is refused before anything is sent, one by one and as one zip."""

from __future__ import annotations

import io
import os
import random
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.contracts.volumes import NewVolumeFile
from exhibit_ingest.uploads import uploads, zip_records
from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folder_upload import count_batch, count_urls
from exhibit_ingest.uploads.folders import Folder, list_folder
from exhibit_ingest.uploads.local_files import extend_path, find_file
from exhibit_ingest.uploads.pack import Archive
from exhibit_ingest.uploads.protocols import Progress
from tests.support.uploads.fake_stack import FakeStack, RefusedError, error

REQUEST = {"case": "Case", "name": "VOL001"}
MADE = random.Random(2)
FILES = {"DATA/V.dat": 20, "NATIVES/1.bin": 1_050, "NATIVES/empty": 0, "Ä/2 b.bin": 330, "Z.bin": 700}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, size in FILES.items():
        file = tmp_path / "V" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(MADE.randbytes(size))
    return tmp_path / "V"


def contents(root: Path, place: str = "/volumes/1/") -> dict[str, bytes]:
    return {place + path: (root / path).read_bytes() for path in FILES}


def test_a_folder_is_listed_in_the_order_of_its_paths_without_what_systems_add(root: Path) -> None:
    (root / "DATA" / "Thumbs.db").write_bytes(b"1")
    (root / "__MACOSX").mkdir()
    (root / "__MACOSX" / "._V.dat").write_bytes(b"1")
    folder = list_folder(root)
    assert [file.path for file in folder] == sorted(FILES)
    assert [file.size for file in folder] == [FILES[path] for path in sorted(FILES)]
    assert (folder.size, dict(folder.left_out)) == (sum(FILES.values()), {"Thumbs.db": 1, "__MACOSX": 1})


def test_what_cannot_be_sent_is_named_at_once(root: Path, tmp_path: Path) -> None:
    (root / "link.bin").symlink_to(root / "Z.bin")
    (root / "folder").symlink_to(tmp_path)
    (root / "back\\slash").write_bytes(b"")
    (root / os.fsdecode(b"latin-\xe9.bin")).write_bytes(b"")
    os.mkfifo(root / "pipe")
    with pytest.raises(UploadFault) as refused:
        list_folder(root)
    text = str(refused.value)
    assert text.startswith("5 entries of the folder cannot be sent: back\\slash has a backslash")
    for part in (
        "folder is a link",
        "link.bin is a link",
        "latin-\\udce9.bin has",
        "pipe is not a file",
        "Nothing was",
    ):
        assert part in text


def test_a_folder_that_cannot_be_listed_is_named(root: Path) -> None:
    (root / "lost").symlink_to(root / "nowhere")
    with pytest.raises(UploadFault, match="1 entry of the folder cannot be sent: lost is a link"):
        list_folder(root)
    (root / "lost").unlink()
    with pytest.raises(UploadFault, match="cannot be listed"):
        list_folder(root / "nowhere")


def test_a_pipe_is_not_sent_as_an_empty_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path / "link", Path("/dev/null"), tmp_path):
        with pytest.raises(UploadFault, match=r"is not a file\. Write it to a file"):
            find_file(place)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UploadFault, match="has no files"):
        list_folder(tmp_path)


def test_a_folder_is_sent_file_by_file(stack: FakeStack, root: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    sent = stack.connect(tmp_path, seen).send_folder(list_folder(root), REQUEST)
    assert sent.number == 1
    assert dict(stack.list_stored()) == contents(root)
    assert (seen[-1].files_done, seen[-1].bytes_done) == (len(FILES), sum(FILES.values()))


def test_the_next_command_sends_the_files_that_are_missing(stack: FakeStack, root: Path, tmp_path: Path) -> None:
    def refuse_last(request: httpx.Request, _: bytes) -> httpx.Response | None:
        return error(400, "Ended") if "2 b" in request.url.path else None

    stack.before = refuse_last
    with pytest.raises(UploadFault, match="Ended"):
        stack.connect(tmp_path).send_folder(list_folder(root), REQUEST)
    # The others are there.
    assert len(dict(stack.list_stored())) == len(FILES) - 1
    stack.before = lambda *_: None
    stack.sent.clear()
    assert stack.connect(tmp_path).send_folder(list_folder(root), REQUEST).number == 1
    assert dict(stack.list_stored()) == contents(root)
    assert stack.sent.total() == 5


def test_a_sealed_volume_is_returned_and_a_failed_one_begun_again(stack: FakeStack, root: Path, tmp_path: Path) -> None:
    stack.connect(tmp_path).send_folder(list_folder(root), REQUEST)
    stack.volumes[1] = "ready"
    seen: list[Progress] = []
    assert stack.connect(tmp_path, seen).send_folder(list_folder(root), REQUEST).number == 1
    assert seen[-1].files_done == len(FILES)
    stack.volumes[1] = "failed"
    assert stack.connect(tmp_path).send_folder(list_folder(root), REQUEST).number == 2
    assert dict(stack.list_stored()) == contents(root) | contents(root, "/volumes/2/")


@pytest.mark.parametrize("most_files", [100, 1])
def test_another_choice_of_load_files_finds_the_volume_that_failed_for_want_of_one(
    stack: FakeStack, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_files: int
) -> None:
    monkeypatch.setattr(uploads, "MOST_FILES", most_files)
    stack.connect(tmp_path).send_folder(list_folder(root), REQUEST)
    stack.volumes[1] = "failed SEVERAL_LOAD_FILES"
    stack.sent.clear()
    assert stack.connect(tmp_path).send_folder(list_folder(root), REQUEST).number == 1
    assert stack.sent.total() == 0


def test_a_file_with_the_size_and_time_of_one_that_was_sent_begins_another_volume(
    stack: FakeStack, root: Path, tmp_path: Path
) -> None:
    stack.connect(tmp_path).send_folder(list_folder(root), REQUEST)
    file = root / "Z.bin"
    found = file.stat()
    file.write_bytes(bytes(found.st_size))
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert stack.connect(tmp_path).send_folder(list_folder(root), REQUEST).number == 2
    assert dict(stack.list_stored()).items() >= contents(root, "/volumes/2/").items()


def test_what_the_api_has_not_declared_is_declared_next(root: Path, tmp_path: Path) -> None:
    class BriefStack(FakeStack):
        def request(self, method: str, path: str, json: Any = None, key: str | None = None) -> Any:
            return super().request(method, path, json[:2] if path.endswith("/files") else json, key)

    stack = BriefStack()
    stack.connect(tmp_path).send_folder(list_folder(root), REQUEST)
    assert dict(stack.list_stored()) == contents(root)
    assert stack.requests.count(("POST", "/volumes/1/files")) == 3


def test_a_file_that_was_changed_since_it_was_listed_is_refused(stack: FakeStack, root: Path, tmp_path: Path) -> None:
    folder = list_folder(root)
    os.utime(root / "NATIVES" / "1.bin", ns=(1, 1))
    with pytest.raises(UploadFault, match=r"NATIVES/1\.bin was changed"):
        stack.connect(tmp_path).send_folder(folder, REQUEST)


def test_the_end_of_the_sign_in_ends_the_upload_with_what_to_do(stack: FakeStack, root: Path, tmp_path: Path) -> None:
    connected = stack.connect(tmp_path)

    def refuse(*_: object) -> dict[str, object]:
        raise RefusedError(401, "")

    stack.request = refuse  # type: ignore[assignment,method-assign]
    with pytest.raises(UploadFault, match=r"The sign-in has ended.*what was sent is kept"):
        connected.send_folder(list_folder(root), REQUEST)


@pytest.mark.parametrize("size", [9_999_999, 10_000_000, 16_000_001, 5_000_000_000, 60_000_000_000, 10**12])
def test_urls_are_counted_as_the_api_does(size: int) -> None:
    file = NewVolumeFile.model_validate({"path": "a", "size": size, "inParts": True})
    assert count_urls(size) == file.count_urls(file.part_bytes)


def test_a_request_declares_at_most_250_files(tmp_path: Path) -> None:
    for number in range(260):
        (tmp_path / f"{number:03}").touch()
    folder = list_folder(tmp_path)
    assert [count_batch(folder, start) for start in (0, 250)] == [250, 10]


def pack(folder: Folder) -> bytes:
    archive = Archive(folder, "V.zip")
    data = b"".join(archive.read(0, archive.size))
    assert len(data) == archive.size
    return data


def test_a_folder_becomes_one_zip(root: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(pack(list_folder(root)))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == contents(root, "")


def test_any_range_of_a_zip_can_be_made_again(root: Path) -> None:
    # Of more than one block.
    (root / "Z.bin").write_bytes(MADE.randbytes(600_000))
    whole, made = pack(list_folder(root)), random.Random(3)
    cuts = [0, *sorted(made.sample(range(len(whole)), 60)), len(whole)]
    for start, end in pairwise(cuts):
        # Nothing is known of the files before the range.
        again = Archive(list_folder(root), "V.zip")
        assert b"".join(again.read(start, end)) == whole[start:end]
    counted = Archive(list_folder(root), "V.zip")
    assert sum(counted.count_ends(start, end) for start, end in pairwise(cuts)) == len(FILES)


def test_records_of_zip64_are_as_large_as_measured() -> None:
    name, size, offset = b"a.pst", 5_000_000_000, 6_000_000_000
    header, descriptor = zip_records.make_header(name, size), zip_records.make_descriptor(size, 1)
    assert zip_records.measure_entry(name, size) == len(header) + size + len(descriptor)
    for large, far in ((size, offset), (size, 0), (1, offset), (1, 0)):
        entry = zip_records.make_directory_entry(name, large, far, 1)
        assert zip_records.measure_directory_entry(name, large, far) == len(entry)
    end = zip_records.make_end(70_000, offset, 99)
    assert (len(end), end[:4], end[56:60]) == (98, b"PK\x06\x06", b"PK\x06\x07")


def test_many_files_are_sent_as_one_zip(
    stack: FakeStack, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_FILES", len(FILES) - 1)
    seen: list[Progress] = []
    stack.connect(tmp_path, seen).send_folder(list_folder(root), REQUEST)
    assert stack.uploads["/volumes/1"].stored == pack(list_folder(root))
    assert (seen[-1].files_done, seen[-1].files) == (len(FILES), len(FILES))


@pytest.mark.parametrize(
    ("path", "extended"),
    [
        ("C:\\Cases\\V", "\\\\?\\C:\\Cases\\V"),
        ("C:/Cases/../V", "\\\\?\\C:\\V"),
        ("\\\\server\\share\\V", "\\\\?\\UNC\\server\\share\\V"),
        ("\\\\?\\C:\\V", "\\\\?\\C:\\V"),
    ],
)
def test_windows_opens_paths_of_any_length(path: str, extended: str) -> None:
    assert extend_path(path, is_windows=True) == extended
    assert extend_path(path, is_windows=False) == path
