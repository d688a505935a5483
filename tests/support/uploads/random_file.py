"""A large file whose bytes do not repeat, so that parts which change places do not go unnoticed."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

BLOCK = 1 << 20


def write_random(file: Path, size: int) -> str:
    """Write the file, a megabyte at a time; returns its SHA-256. The bytes are the same in every run."""
    made, digest = random.Random(17), hashlib.sha256()
    with file.open("wb") as stream:
        for at in range(0, size, BLOCK):
            block = made.randbytes(min(BLOCK, size - at))
            digest.update(block)
            stream.write(block)
    return digest.hexdigest()
