"""Files, folders and zips of folders reach the S3 of one machine through a proxy that drops, refuses, stalls and alters
requests, sent by processes that are killed: equal bytes, few parts sent twice, little memory.

UPLOAD_BYTES sets the size of the file, such as 3000000000; the memory of the process does not grow with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.uploads.task_queue import AT_ONCE
from shell.aws import clients
from shell.settings import settings
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.uploads.api_server import serve_api
from tests.support.uploads.faulty_proxy import Fault, FaultyProxy, faulty_proxy
from tests.support.uploads.random_file import write_random

ROOT = Path(__file__).parents[3]
ADA = Client("acme", "ada")
SIZE = int(os.environ.get("UPLOAD_BYTES", 60_000_000))
MOST_MEMORY, KILLS = 100_000_000, 5
# Each of them once in a run of so many requests, by chance.
FAULTS: tuple[Fault, ...] = ("drop", "half", "answer", "503", "early 503", "stall", "alter")
pytestmark = pytest.mark.slow


def read_object(key: str, size: int) -> Iterator[bytes]:
    for at in range(0, size, 64 << 20):
        read = clients.s3().get_object(Bucket=settings().bucket, Key=key, Range=f"bytes={at}-{at + (64 << 20) - 1}")
        yield read["Body"].read()


class Sender:
    """Starts processes that send to the API of this process through the proxy."""

    def __init__(self, api: str, proxy: FaultyProxy, journal: Path) -> None:
        self.proxy = proxy
        self._given = {"api": api, "proxy": proxy.url, "journal": str(journal), "stall": 20.0}

    def start(self, path: Path) -> subprocess.Popen[str]:
        # Under a shell: a process takes the memory that its parent has at its start for its own.
        program = ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-m", "tests.support.uploads.sending_process"]
        given = json.dumps({**self._given, "path": str(path)})
        pipe = subprocess.PIPE
        return subprocess.Popen([*program, given], cwd=ROOT, stdout=pipe, stderr=pipe, text=True, process_group=0)

    def finish(self, path: Path) -> dict[str, Any]:
        process = self.start(path)
        out, err = process.communicate()
        assert process.returncode == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    def kill_in_the_middle(self, path: Path, begun: int, taken: int) -> None:
        """Send, and kill the process in the middle of parts, after it began and the storage took so many more."""
        begins, takes = self.proxy.begun.total() + begun, self.proxy.taken.total() + taken
        process = self.start(path)

        def kill() -> None:
            if self.proxy.begun.total() >= begins and self.proxy.taken.total() >= takes and process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)

        self.proxy.on_progress = kill
        _, err = process.communicate()
        self.proxy.on_progress = lambda: None
        assert process.returncode == -signal.SIGKILL, err


@pytest.fixture
def sender(world: World, tmp_path: Path) -> Iterator[Sender]:
    with serve_api(ADA) as api, faulty_proxy() as proxy:
        yield Sender(api, proxy, tmp_path / "configuration")


def mix_faults(share: float) -> Any:
    """Have every fault once in the first requests, and after these a share of all requests."""
    made, first = random.Random(5), list(FAULTS)

    def choose(number: int) -> Fault:
        if number % 2 == 0 and first:
            return first.pop()
        return made.choice(FAULTS) if not first and made.random() < share else ""

    return choose


def list_objects(prefix: str) -> dict[str, int]:
    """Keys and sizes."""
    pages = clients.s3().get_paginator("list_objects_v2").paginate(Bucket=settings().bucket, Prefix=prefix)
    return {found["Key"]: found["Size"] for page in pages for found in page["Contents"]}


def find_object(prefix: str) -> str:
    (found,) = list_objects(prefix)
    return found


def write_folder(root: Path, files: dict[str, int]) -> dict[str, str]:
    """Write files of random bytes, each other ones; returns the SHA-256 of each by its path."""
    made, hashes = random.Random(11), dict[str, str]()
    for path, size in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        data = made.randbytes(size)
        (root / path).write_bytes(data)
        hashes[path] = hashlib.sha256(data).hexdigest()
    return hashes


def test_a_file_arrives_through_faults_and_five_kills(sender: Sender, tmp_path: Path) -> None:
    file, proxy = tmp_path / "a.dat", sender.proxy
    expected, began = write_random(file, SIZE), time.monotonic()
    proxy.choose = mix_faults(0.1)
    parts = -(-SIZE // max(16_000_000, -(-SIZE // 256)))
    each = max((parts - AT_ONCE) // (KILLS + 1), 0)
    for left in reversed(range(KILLS)):
        # A file of few parts is killed more often than it has parts: only the last time one is there.
        sender.kill_in_the_middle(file, begun=2, taken=each or int(left == 0))
    there = len(proxy.taken)
    result = sender.finish(file)
    took = time.monotonic() - began
    digest = hashlib.sha256()
    for block in read_object(find_object("imports/acme/Case/"), SIZE):
        digest.update(block)
    assert digest.hexdigest() == expected
    again = proxy.begun.total() - parts
    shown = {"bytes": SIZE, "seconds": round(took), "parts": parts, "there": there, "begun again": again}
    print(json.dumps({**shown, "abandoned": proxy.abandoned, "faults": proxy.faults, **result}))
    assert set(proxy.faults) == set(FAULTS)
    # What was answered is never sent again. A killed process abandons what is in flight, one on a busy machine more.
    assert again <= proxy.faults.total() + proxy.abandoned
    # More can have arrived by the time that the last process began.
    assert result["already_there"] >= there - proxy.faults["alter"]
    assert result["peak"] <= MOST_MEMORY


def test_a_folder_arrives_file_by_file_through_faults_and_kills(sender: Sender, tmp_path: Path) -> None:
    root, proxy = tmp_path / "V", sender.proxy
    sizes = {f"NATIVES/{number // 100}/Ä {number}.bin": 100 + 997 * number for number in range(290)}
    hashes = write_folder(root, {**sizes, "DATA/V.dat": 5, "TEXT/empty.txt": 0, "NATIVES/large.pst": 40_000_000})
    proxy.choose = mix_faults(0.05)
    for _ in range(2):
        sender.kill_in_the_middle(root, begun=2, taken=40)
    result = sender.finish(root)
    prefix = f"volumes/acme/Case/{result['number']}/files/"
    prefix = f"volumes/acme/Case/{result['number']}/"
    stored = {key.removeprefix(prefix): size for key, size in list_objects(prefix).items()}
    assert set(stored) == set(hashes)
    for path, size in stored.items():
        assert hashlib.sha256(b"".join(read_object(prefix + path, size))).hexdigest() == hashes[path], path
    print(json.dumps({"files": len(hashes), "begun": proxy.begun.total(), "faults": proxy.faults, **result}))
    assert set(proxy.faults) == set(FAULTS)
    assert result["files_done"] == len(hashes)
    assert result["already_there"] >= 40
    assert result["peak"] <= MOST_MEMORY


def test_a_folder_of_many_files_arrives_as_one_zip_through_faults_and_kills(sender: Sender, tmp_path: Path) -> None:
    root, proxy = tmp_path / "V", sender.proxy
    sizes = {f"NATIVES/{number // 500:03}/{number:05} ü.bin": 10_000 + 11 * number for number in range(2_500)}
    hashes = write_folder(root, {**sizes, "DATA/V.dat": 5, "TEXT/empty.txt": 0, "NATIVES/large.pst": 40_000_000})
    proxy.choose = mix_faults(0.1)
    for left in reversed(range(3)):
        sender.kill_in_the_middle(root, begun=2, taken=int(left < 2))
    there = len(proxy.taken)
    result = sender.finish(root)
    file = tmp_path / "V.zip"
    with file.open("wb") as stream:
        (key,) = (stored := list_objects(f"archives/acme/Case/{result['number']}/"))
        stream.writelines(read_object(key, stored[key]))
    with zipfile.ZipFile(file) as archive:
        assert {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()} == hashes
    shown = {"files": len(hashes), "bytes": stored[key], "begun": proxy.begun.total(), "there": there}
    print(json.dumps({**shown, "faults": proxy.faults, **result}))
    assert result["files_done"] == len(hashes)
    assert 0 < there <= result["already_there"] + proxy.faults["alter"]
    assert result["peak"] <= MOST_MEMORY
