"""A file is sent in parts, of which a third fails, by a program that is killed and started again: equal bytes.

UPLOAD_BYTES sets the size of the file of the slow test, such as 3000000000; its memory does not grow with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import urllib3

from core.contracts.imports.uploads import MIN_PART_BYTES
from exhibit_ingest.volumes import resuming
from exhibit_ingest.volumes.resuming import complete, has_part, send_missing
from local.errors import LocalError
from shell.aws import clients
from shell.settings import settings
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.aws.uploads_on_disk import uploads_on_disk
from tests.support.uploads.api_server import serve_api
from tests.support.uploads.random_file import write_random

ROOT = Path(__file__).parents[3]
ADA = Client("acme", "ada")
SIZE = int(os.environ.get("UPLOAD_BYTES", 70_000_000))
SHARE, SEED = 0.3, 17
# Of S3 and the test together, above what the process had before. A program that sends has a few blocks of 1 MB.
MOST_MEMORY = 1_000_000_000


def hash_object(key: str, size: int) -> str:
    digest, most = hashlib.sha256(), 64 << 20
    for at in range(0, size, most):
        read = clients.s3().get_object(Bucket=settings().bucket, Key=key, Range=f"bytes={at}-{at + most - 1}")
        digest.update(read["Body"].read())
    return digest.hexdigest()


def announce(size: int) -> tuple[str, str]:
    """Announce an import; returns the path of its upload's state, and the key."""
    created = ADA.post("/imports", {"case": "Case", "fileName": "a.dat", "size": size, "inParts": True}).json
    key = f"imports/acme/Case/{created['uploadId']}/a.dat"
    return f"/imports/{created['id']}/upload", key


@pytest.fixture
def states(world: World) -> Iterator[str]:
    """The URL of a server that answers as the API does, for the user Ada."""
    with serve_api(ADA) as url:
        yield url


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resuming, "_FIRST_PAUSE_S", 0.0)


def start(states: str, file: Path, path: str, end_after: int) -> subprocess.CompletedProcess[str]:
    """Send the file in a process of its own."""
    url = f"{states}{path}"
    given = {"file": str(file), "state": url, "share": SHARE, "seed": SEED + end_after, "endAfter": end_after}
    given["atOnce"] = resuming.AT_ONCE if SIZE > 1_000_000_000 else 1
    command = [sys.executable, "-m", "tests.integration.exhibit_ingest.uploads_with_faults", json.dumps(given)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def peak() -> int:
    """The most memory that this process has had so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.fixture
def on_disk() -> Iterator[None]:
    with uploads_on_disk():
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("on_disk")
def test_an_upload_that_is_killed_and_whose_parts_fail_is_resumed_to_equal_bytes(states: str, tmp_path: Path) -> None:
    file, before, began = tmp_path / "a.dat", peak(), time.monotonic()
    expected = write_random(file, SIZE)
    path, key = announce(SIZE)
    parts = len(ADA.get(path).json["upload"]["parts"])
    killed = start(states, file, path, end_after=parts // 2)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    there = len(ADA.get(path).json["parts"])
    # What S3 took is not lost; of the others in flight some may be there, too.
    assert 0 < there <= parts // 2 + resuming.AT_ONCE
    resumed = start(states, file, path, end_after=0)
    assert resumed.returncode == 0, resumed.stderr
    result = json.loads(resumed.stdout)
    assert result["kept"] >= there
    assert result["kept"] + result["sent"] == parts
    assert result["requests"] == result["sent"] + result["failed"]
    assert hash_object(key, SIZE) == expected
    took = {"seconds": round(time.monotonic() - began, 1), "memory": peak() - before}
    print(json.dumps({"bytes": SIZE, "parts": parts, "there after the kill": there, **result, **took}))
    assert took["memory"] < MOST_MEMORY


@pytest.fixture
def sent(world: World, tmp_path: Path) -> tuple[Path, str, str]:
    """A file of two parts, of which the first is there; the path of its state, and its key."""
    file = tmp_path / "a.dat"
    write_random(file, MIN_PART_BYTES + 9)
    path, key = announce(MIN_PART_BYTES + 9)
    first = ADA.get(path).json["upload"]["parts"][0]
    assert urllib3.request("PUT", first["url"], body=file.read_bytes()[: first["size"]]).status == 200
    return file, path, key


def test_only_what_is_missing_is_sent(sent: tuple[Path, str, str]) -> None:
    file, path, key = sent
    took = send_missing(urllib3.PoolManager(), file, lambda: ADA.get(path).json)
    assert (took.kept, took.sent, took.requests) == (1, 1, 1)
    assert hash_object(key, file.stat().st_size) == hashlib.sha256(file.read_bytes()).hexdigest()
    # It is there: nothing is sent again.
    assert send_missing(urllib3.PoolManager(), file, lambda: ADA.get(path).json) == resuming.Sent(0, 0, 0)


def change_first_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[0] ^= 1
    file.write_bytes(data)


def test_a_part_of_a_file_that_was_changed_since_is_sent_again(sent: tuple[Path, str, str]) -> None:
    file, path, key = sent
    change_first_byte(file)
    took = send_missing(urllib3.PoolManager(), file, lambda: ADA.get(path).json)
    assert (took.kept, took.sent) == (0, 2)
    assert hash_object(key, file.stat().st_size) == hashlib.sha256(file.read_bytes()).hexdigest()


def test_without_comparing_parts_the_object_is_a_mixture(
    sent: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    file, path, key = sent
    change_first_byte(file)
    monkeypatch.setattr(resuming, "has_part", lambda *_: True)
    send_missing(urllib3.PoolManager(), file, lambda: ADA.get(path).json)
    assert hash_object(key, file.stat().st_size) != hashlib.sha256(file.read_bytes()).hexdigest()


def test_two_programs_that_complete_one_upload_both_succeed(sent: tuple[Path, str, str]) -> None:
    file, path, key = sent
    both = threading.Barrier(2)
    waited: set[int] = set()

    class Pool(urllib3.PoolManager):
        def request(self, method: str, *arguments: Any, **options: Any) -> Any:
            if method == "POST" and threading.get_ident() not in waited:
                waited.add(threading.get_ident())
                both.wait()
            return super().request(method, *arguments, **options)

    with ThreadPoolExecutor(2) as programs:
        ends = [programs.submit(send_missing, Pool(), file, lambda: ADA.get(path).json) for _ in range(2)]
    assert [end.result().kept for end in ends] == [1, 1]
    assert hash_object(key, file.stat().st_size) == hashlib.sha256(file.read_bytes()).hexdigest()
    versions = clients.s3().list_object_versions(Bucket=settings().bucket, Prefix=key)["Versions"]
    assert len(versions) == 1


def test_a_part_that_is_missing_at_the_end_is_named(sent: tuple[Path, str, str]) -> None:
    _, path, key = sent
    state = ADA.get(path).json
    with pytest.raises(LocalError, match="the parts 2 are missing"):
        complete(urllib3.PoolManager(), state, {1: state["parts"][0]["etag"]})
    assert clients.s3().list_objects_v2(Bucket=settings().bucket, Prefix=key)["KeyCount"] == 0


def test_an_upload_that_has_expired_says_so(sent: tuple[Path, str, str]) -> None:
    file, path, key = sent
    bucket = settings().bucket
    (upload,) = [each for each in clients.s3().list_multipart_uploads(Bucket=bucket)["Uploads"] if each["Key"] == key]
    clients.s3().abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload["UploadId"])
    with pytest.raises(LocalError, match="has expired"):
        send_missing(urllib3.PoolManager(), file, lambda: ADA.get(path).json)


@pytest.mark.parametrize(
    ("algorithm", "checksum", "etag", "is_there"),
    [
        ("CRC32", "y/Q5Jg==", "?", True),
        ("CRC32", "y/Q5Jw==", '"25f9e794323b453885f5181f1b624d0b"', False),
        ("SHA256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=", "?", True),
        ("CRC64NVME", "AAAAAAAAAAA=", '"25f9e794323b453885f5181f1b624d0b"', True),
        (None, None, '"25f9e794323b453885f5181f1b624d0b"', True),
        # As under a key of KMS.
        (None, None, '"00000000323b453885f5181f1b624d0b"', False),
    ],
)
def test_a_part_is_compared_by_its_checksum_or_its_etag(
    tmp_path: Path, algorithm: str | None, checksum: str | None, etag: str, is_there: bool
) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"xx123456789yy")
    part = {"firstByte": 2, "size": 9, "checksumAlgorithm": algorithm, "checksum": checksum, "etag": etag}
    assert has_part(file, part) == is_there
