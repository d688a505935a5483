"""Which checksum of an object says that its bytes are those of a file."""

from __future__ import annotations

import pytest

from shell.aws.object_checksums import choose_checksum


@pytest.mark.parametrize(
    ("head", "chosen"),
    [
        ({}, None),
        ({"ChecksumCRC64NVME": "a="}, ("CRC64NVME", "a=")),
        ({"ChecksumSHA256": "b=", "ChecksumCRC64NVME": "a=", "ChecksumType": "FULL_OBJECT"}, ("SHA256", "b=")),
        ({"ChecksumCRC32": "c="}, None),
        ({"ChecksumSHA256": "b=-2"}, None),
        ({"ChecksumSHA256": "b=", "ChecksumType": "COMPOSITE"}, None),
    ],
    ids=["none", "computed by S3", "stated", "of another algorithm", "of parts, by its form", "of parts"],
)
def test_the_checksum_of_all_bytes_is_chosen(head: dict[str, str], chosen: tuple[str, str] | None) -> None:
    assert choose_checksum(head) == chosen
