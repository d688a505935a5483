"""Parts of uploads by themselves: CRC, rate, time left, faults; and what the package imports."""

from __future__ import annotations

import base64
import ssl
import subprocess
import sys
from itertools import accumulate, repeat

import httpx
import pytest

from exhibit_ingest.uploads.crc64 import Crc64
from exhibit_ingest.uploads.faults import Answer, find_fault, to_fault
from exhibit_ingest.uploads.limits import RateLimit, parse_rate
from exhibit_ingest.uploads.meter import Meter, estimate_seconds
from tests.support.uploads.fake_stack import RefusedError, crc64

# What a wheel for Linux, macOS and Windows cannot import, and what its environment does not have.
POSIX = ["fcntl", "pwd", "grp", "resource", "termios", "tty", "pty"]
FORBIDDEN = [*POSIX, "boto3", "botocore", "sqlalchemy", "moto", "urllib3", "local", "shell", "core"]
# What uploads may share with the rest of the command: errors and files, not sign-ins, commands or the client.
SHARED = {f"exhibit_ingest.{name}" for name in ("errors", "exit_codes", "private_file", "file_lock", "printable")}
HYGIENE = f"""
import importlib, pkgutil, sys
for name in {FORBIDDEN}:
    sys.modules[name] = None
import exhibit_ingest.uploads as package
found = [each.name for each in pkgutil.iter_modules(package.__path__)]
for name in found:
    importlib.import_module(f"{{package.__name__}}.{{name}}")
ours = [name for name in sys.modules if name.startswith("exhibit_ingest.")]
print(len(found), *(name for name in ours if ".uploads" not in name))
"""


class Clock:
    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_the_package_imports_neither_posix_nor_the_application() -> None:
    done = subprocess.run([sys.executable, "-c", HYGIENE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, *others = done.stdout.split()
    assert (int(count) > 15, set(others) - SHARED) == (True, set())


def test_the_check_of_imports_notices_one() -> None:
    """The negative control."""
    program = HYGIENE.replace("for name in found:", "import fcntl\nfor name in found:")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "import of fcntl halted" in done.stderr


@pytest.mark.parametrize("size", [0, 9, 2_048 * 255, 2_048 * 255 + 7])
def test_a_crc_is_that_of_s3_however_the_bytes_are_cut(size: int) -> None:
    data = bytes(index * 7 % 251 for index in range(size)) if size != 9 else b"123456789"
    expected = crc64(data)
    computed = Crc64()
    for start in range(0, size, 100_000):
        computed.add(data[start : start + 100_000])
    assert base64.b64encode(computed.digest()).decode() == expected
    # The check value of the catalogue of CRC algorithms.
    assert size != 9 or computed.digest().hex() == "ae8b14860a799888"


@pytest.mark.parametrize(
    ("text", "rate"), [("20M", 20_000_000), ("500k", 500_000), ("1.5m", 1_500_000), ("4096", 4096)]
)
def test_a_rate_is_read(text: str, rate: int) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["", "fast", "20 MB/s", "-1", "0", "1k", "9" * 400, "nan", "1e3", "\u0663M"])
def test_another_text_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rate" if text != "1k" else "1k"):
        parse_rate(text)


def test_all_requests_together_keep_the_rate() -> None:
    clock = Clock(100.0)
    limit, waits = RateLimit(100_000, clock), list[float]()

    def wait(seconds: float) -> None:
        waits.append(seconds)
        clock.now += seconds

    for _ in range(8):
        assert b"".join(limit.cut(bytes(50_000), wait)) == bytes(50_000)
    # 400,000 bytes, of which the bucket held 25,000.
    assert clock.now == pytest.approx(103.75)
    assert max(waits) < 0.1


def test_without_a_limit_a_block_is_sent_as_it_is() -> None:
    block = bytes(300_000)
    waits: list[float] = []
    assert list(RateLimit(None).cut(block, waits.append)) == [block]
    assert waits == []


def test_the_time_left_is_that_of_the_last_seconds() -> None:
    clock = Clock()
    meter = Meter(clock)
    assert meter.measure(0) is None
    for done in accumulate(repeat(1_000, 60)):
        clock.now += 1
        rate = meter.measure(done)
    assert rate == pytest.approx(1_000)
    assert estimate_seconds(rate, 90_500) == 91
    assert estimate_seconds(None, 1) is None


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (200, "", None),
        (200, "<Error><Code>InternalError</Code></Error>", "busy"),
        (403, "<Code>AccessDenied</Code>", "expired"),
        (403, "", "expired"),
        (400, "<Code>ExpiredToken</Code>", "expired"),
        (403, "<Code>SignatureDoesNotMatch</Code>", "final"),
        (412, "", "stale"),
        (404, "<Code>NoSuchUpload</Code>", "stale"),
        (503, "<Code>SlowDown</Code>", "busy"),
        (429, "", "busy"),
        (400, "<Code>BadDigest</Code>", "busy"),
        (413, "", "final"),
        (407, "<html>Proxy", "final"),
        (504, "<!doctype html>", "busy"),
    ],
)
def test_an_answer_says_what_follows(status: int, text: str, kind: str | None) -> None:
    fault = find_fault(Answer(status, None, text), "a.dat")
    assert (fault and fault.kind) == kind


def test_an_exception_says_what_follows() -> None:
    refused = [RefusedError(503, "unavailable"), RefusedError(409, "in-progress"), RefusedError(401, "")]
    kinds = [getattr(to_fault(each, "a"), "kind", None) for each in [*refused, RefusedError(422, "invalid-request")]]
    assert kinds == ["busy", "busy", "halt", "final"]
    untrusted = httpx.ConnectError("TLS")
    untrusted.__cause__ = ssl.SSLCertVerificationError()
    untrusted.__cause__.verify_message = "self-signed certificate"
    fault = to_fault(untrusted, "a")
    assert fault is not None
    assert (fault.kind, "SSL_CERT_FILE" in fault.advice) == ("halt", True)
    proxies = [httpx.ProxyError("407 Proxy Authentication Required"), httpx.ProxyError("503 Busy")]
    kinds = [getattr(to_fault(each, "a"), "kind", None) for each in [*proxies, httpx.InvalidURL("port")]]
    assert kinds == ["halt", "network", "final"]
    lost, unreadable = to_fault(httpx.ReadTimeout("slow"), "a"), to_fault(PermissionError(13, "denied"), "a")
    assert (lost and lost.kind, unreadable and unreadable.kind) == ("network", "final")
    # An error of the program itself is not hidden.
    assert to_fault(KeyError("upload"), "a") is None
