"""The checksum of parts in the local S3 is the one of S3, at every length at which it is computed in another way."""

from __future__ import annotations

import random

import pytest

from local.services.part_checksums import crc64nvme


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
