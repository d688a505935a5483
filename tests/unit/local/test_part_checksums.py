"""The checksum of parts in the local S3 is the one of S3, at every length at which it is computed in another way."""

from __future__ import annotations

import base64
import random
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest

from local.storage.part_checksums import add_checksum, crc64nvme


def divide_by_bits(data: bytes) -> int:
    """Return the checksum bit by bit, as it is defined."""
    crc = 2**64 - 1
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x9A6C9329AC4BC9B5 if crc & 1 else 0)
    return crc ^ (2**64 - 1)


def test_the_check_value_is_that_of_the_catalogue() -> None:
    assert crc64nvme(b"123456789") == 0xAE8B14860A799888


@pytest.mark.parametrize("size", [0, 1, 7, 8, 4_095, 4_096, 4_097, 10_000])
def test_lanes_give_what_the_definition_gives(size: int) -> None:
    data = random.Random(size).randbytes(size)
    assert crc64nvme(data) == divide_by_bits(data)


class Responses:
    """A bucket of one object, as far as the patched method sees moto's responses."""

    def __init__(self, size: int, algorithm: str | None) -> None:
        self.key = SimpleNamespace(content=BytesIO(b"123456789"), size=size, checksum_algorithm=algorithm)
        self.backend = SimpleNamespace(get_object=lambda *_: self.key)

    def head(self, _bucket: str, _query: Any, _key: str, _headers: Any) -> tuple[int, dict[str, str], str]:
        return 200, {"ETag": "e"}, ""


@pytest.mark.parametrize(
    ("size", "algorithm", "mode", "has_checksum"),
    [
        (9, None, "ENABLED", True),
        (9, None, "", False),
        (9, "SHA256", "ENABLED", False),
        (10**9, None, "ENABLED", False),
    ],
)
def test_an_object_without_a_stated_checksum_has_that_of_s3(
    size: int, algorithm: str | None, mode: str, has_checksum: bool
) -> None:
    head = add_checksum(Responses.head)
    _, found, _ = head(Responses(size, algorithm), "bucket", {}, "key", {"x-amz-checksum-mode": mode})
    expected = {"x-amz-checksum-crc64nvme": base64.b64encode((0xAE8B14860A799888).to_bytes(8)).decode()}
    assert {name: value for name, value in found.items() if "crc64" in name} == (expected if has_checksum else {})
