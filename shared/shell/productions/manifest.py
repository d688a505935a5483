"""Write the manifest of a volume: path, size and SHA-256 of each of its other files.

Guaranteed: its lines are in the order of the numbers, and those of the load files at the end. The lines of a part are
written beside the volume when its files are copied, and the last part joins them; both can be repeated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from core.productions.volume import (
    MANIFEST,
    MANIFEST_HASH,
    MANIFEST_HEADER,
    build_manifest_part_key,
    build_volume_folder,
    format_manifest_line,
)
from shell.aws.s3 import find_current_version, write_object, write_stream
from shell.settings import settings
from shell.tables.productions import Productions

_CSV, _TEXT = "text/csv", "text/plain"


class HashingStream:
    """Pieces of bytes that are counted and hashed while they pass."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces
        self._digest = hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces."""
        for piece in self._pieces:
            self._digest.update(piece)
            self.size += len(piece)
            yield piece

    @property
    def sha256(self) -> bytes:
        """The SHA-256 of the pieces that have passed."""
        return self._digest.digest()


def write_listed(production: Productions, path: str, pieces: Iterable[bytes]) -> bytes:
    """Write a load file of the volume and return its line of the manifest. Raises StorageUnavailableError."""
    stream = HashingStream(pieces)
    write_stream(settings().bucket, build_volume_folder(production.id, production.volume) + path, stream, _TEXT)
    return format_manifest_line(path, stream.size, stream.sha256)


def write_manifest_part(production: Productions, part: int, lines: bytes) -> None:
    """Keep the lines of a part until the manifest is written. Raises StorageUnavailableError."""
    write_object(settings().bucket, build_manifest_part_key(production.id, part), lines, _CSV)


def write_manifest(production: Productions, parts: int, load_files: Sequence[bytes]) -> bytes:
    """Join the lines of the parts and of the load files; return the SHA-256 of the manifest.

    Raises StorageUnavailableError.
    """
    bucket, folder = settings().bucket, build_volume_folder(production.id, production.volume)
    stream = HashingStream(_join(production.id, parts, load_files))
    write_stream(bucket, folder + MANIFEST, stream, _CSV)
    sums = f"{stream.sha256.hex()}  {MANIFEST}\n".encode()
    write_object(bucket, folder + MANIFEST_HASH, sums, _TEXT)
    return stream.sha256


def _join(production_id: int, parts: int, load_files: Sequence[bytes]) -> Iterator[bytes]:
    yield MANIFEST_HEADER
    for part in range(parts):
        version, size = find_current_version(settings().bucket, build_manifest_part_key(production_id, part))
        yield from version.read_blocks(size)
    yield from load_files
