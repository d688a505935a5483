"""List the parts of an upload with the checksum that S3 computes of each: CRC-64/NVME.

Guaranteed: a part of an upload whose client stated no checksum is listed with ChecksumCRC64NVME, as in "ListParts" of
the S3 API reference; without it no browser can tell that a part is that of its file, and sends it again. It is computed
when the part is listed first: half a second for 16 MB. Not guaranteed: checksums of objects.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import reduce
from typing import Any

_POLYNOMIAL = 0x9A6C9329AC4BC9B5
_ONES = 2**64 - 1
_LANES = 4096


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


def list_checksums(serialize: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the method, of moto's responses, with a checksum of each part in those of ListParts."""

    def serialized(response: Any, action: Any) -> Any:
        if response.data.get("Action") == "ListParts":
            upload = response.backend.get_bucket(response.bucket_name).multiparts[action.result["UploadId"]]
            if upload.metadata.get("x-amz-checksum-algorithm") is None:
                for part in action.result["Parts"]:
                    part["ChecksumCRC64NVME"] = _read_checksum(upload.parts[part["PartNumber"]])
        return serialize(response, action)

    return serialized


def _read_checksum(part: Any) -> str:
    if not hasattr(part, "crc64nvme"):
        part.crc64nvme = base64.b64encode(crc64nvme(part.value).to_bytes(8)).decode()
    return str(part.crc64nvme)
