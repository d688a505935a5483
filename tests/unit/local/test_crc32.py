"""The CRC-32 of a whole is that of its parts, joined."""

from __future__ import annotations

import zlib

from hypothesis import given
from hypothesis import strategies as st

from local.storage.crc32 import join_crc32


@given(st.binary(), st.binary())
def test_joined_checksums_are_that_of_the_joined_bytes(first: bytes, second: bytes) -> None:
    assert join_crc32(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)
