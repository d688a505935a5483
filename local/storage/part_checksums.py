"""Return the checksum that S3 computes by itself of each part of an upload, and of an object: CRC-64/NVME.

Guaranteed: a part of an upload whose client stated no checksum is listed with ChecksumCRC64NVME, as in "ListParts" of
the S3 API reference; without it no browser can tell that a part is that of its file, and sends it again. It is computed
when the part is listed first: half a second for 16 MB. An object of at most 32 MB has it too, in the response to
HeadObject with `ChecksumMode`, unless its upload stated another one. Not guaranteed: checksums of larger objects, which
would take seconds.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from typing import Any

_POLYNOMIAL = 0x9A6C9329AC4BC9B5
_ONES = 2**64 - 1
_LANES = 4096
_MAX_OBJECT_BYTES = 32_000_000


def _divide(byte: int) -> int:
    return reduce(lambda crc, _: crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0), range(8), byte)


_TABLE = [_divide(byte) for byte in range(256)]
# The table of each byte of a register, the lowest first.
_PLANES = [bytes(each >> 8 * place & 255 for each in _TABLE) for place in range(8)]


def crc64nvme(data: bytes) -> int:
    """Return the CRC-64/NVME of bytes, as "Catalogue of parametrised CRC algorithms" (reveng) defines it.

    The bytes are divided into lanes, which are all moved on by a byte at once; then the registers are joined.
    """
    if len(data) < 8:
        return _move_on(_ONES, data) ^ _ONES
    # A register of ones is the same as inverted first bytes, and zeros before them change nothing.
    inverted = (int.from_bytes(data[:8]) ^ _ONES).to_bytes(8)
    steps = -(-len(data) // _LANES)
    padded = b"".join([bytes(steps * _LANES - len(data)), inverted, memoryview(data)[8:]])
    zeros = bytes(steps)
    moved = [_move_on(1 << bit, zeros) for bit in range(64)]
    crc = 0
    for register in _run_lanes(padded, steps):
        crc = reduce(int.__xor__, (moved[bit] for bit in range(64) if crc >> bit & 1), register)
    return crc ^ _ONES


def _move_on(crc: int, data: bytes) -> int:
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def _run_lanes(data: bytes, steps: int) -> list[int]:
    """Return the registers of all lanes, which begin with zeros; a number has the same byte of each register."""
    planes = [0] * 9
    for step in range(steps):
        index = (planes[0] ^ int.from_bytes(data[step::steps])).to_bytes(_LANES)
        planes = [planes[at + 1] ^ int.from_bytes(index.translate(_PLANES[at])) for at in range(8)] + [0]
    columns = [plane.to_bytes(_LANES) for plane in planes[:8]]
    return [int.from_bytes(register, "little") for register in zip(*columns, strict=True)]


def encode_crc64nvme(data: bytes) -> str:
    """Return the CRC-64/NVME of bytes as S3 writes it: in Base64."""
    return base64.b64encode(crc64nvme(data).to_bytes(8)).decode()


def list_checksums(
    find: Callable[[str, str, Collection[int]], Mapping[int, str]], serialize: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """Return the method, of moto's responses, with the checksums that `find` knows of an upload in ListParts."""

    def serialized(response: Any, action: Any) -> Any:
        if response.data.get("Action") == "ListParts":
            parts = {part["PartNumber"]: part for part in action.result["Parts"]}
            for number, checksum in find(response.bucket_name, action.result["UploadId"], parts).items():
                parts[number]["ChecksumCRC64NVME"] = checksum
        return serialize(response, action)

    return serialized


def add_checksum(head_object: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method, of moto's responses, with the checksum of the object in those of HeadObject."""

    def head(self: Any, bucket_name: str, query: dict[str, Any], key_name: str, headers: Any) -> Any:
        status, found, body = head_object(self, bucket_name, query, key_name, headers)
        if status == 200 and headers.get("x-amz-checksum-mode") == "ENABLED":
            key = self.backend.get_object(bucket_name, key_name, query.get("versionId", [None])[0])
            if key and not key.checksum_algorithm and key.size <= _MAX_OBJECT_BYTES:
                found |= {
                    "x-amz-checksum-crc64nvme": encode_crc64nvme(key.content.read()),
                    "x-amz-checksum-type": "FULL_OBJECT",
                }
        return status, found, body

    return head
