"""Check the entries of a zip: each by itself, and all together for shared bytes, equal paths, number and size.

Guaranteed: every error names an entry. An entry is refused for what the directory says of it; `inflate` compares that
with the entry's bytes.
"""

from __future__ import annotations

import hashlib
import stat
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import NamedTuple

from core.codes import VolumeFailure
from core.volumes.errors import VolumeRefusedError, shorten_name
from core.volumes.paths import fold_path
from core.volumes.zip_names import build_path, decode_name, find_ignored_kind
from core.volumes.zip_records import DirectoryPlace, Header, Read, read_headers, refuse_damaged

# An entry with more bytes than the first has at most so many times its compressed bytes.
MAX_FREE_BYTES, MAX_RATIO = 100_000_000, 200
STORED, DEFLATED = 0, 8
LOCAL_HEADER_BYTES = 30
_METHODS = {1: "shrink", 6: "implode", 9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ", 98: "PPMd"}
# Encrypted, strongly encrypted, with an encrypted directory (APPNOTE.TXT 4.4.4); AES (method 99).
_ENCRYPTED_FLAGS, _AES = 0x2041, 99
_REPEATED_AT_ONCE = 10_000


class ZipLimits(NamedTuple):
    """The most entries of a zip, and their bytes; and how many entries are held at once to sort a directory."""

    entries: int = 2_000_000
    size: int = 10**12
    window_entries: int = 100_000


DEFAULT_LIMITS = ZipLimits()


def get_max_size(compressed_size: int) -> int:
    """Return the most bytes that an entry with this many compressed bytes may have."""
    return max(MAX_FREE_BYTES, MAX_RATIO * compressed_size)


class HashBag:
    """64-bit hashes, of 8 bytes each; sorted by their first byte, because to sort all at once takes five times that."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(256)]

    def add(self, text: str) -> None:
        digest = hashlib.sha256(text.encode()).digest()
        self._parts[digest[0]].append(int.from_bytes(digest[:8], "big"))

    def list_repeated(self) -> Iterator[int]:
        for part in self._parts:
            yield from {one for one, other in pairwise(sorted(part)) if one == other}

    def count_repeated(self) -> int:
        return sum(len(part) - len(set(part)) for part in self._parts)


@dataclass
class Scan:
    """What one pass over the directory adds up."""

    entries: int = 0
    files: int = 0
    size: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    exact: HashBag = field(default_factory=HashBag)
    folded: HashBag = field(default_factory=HashBag)
    end: int = 0
    in_order: bool = True

    def add(self, header: Header, path: str) -> None:
        self.entries += 1
        self.in_order &= header.offset >= self.end
        self.end = _find_least_end(header)
        kind = find_ignored_kind(path)
        if kind is not None:
            self.ignored[kind] += 1
        else:
            self.files += 1
            self.size += header.size
            self.exact.add(path)
            self.folded.add(fold_path(path))


def scan_headers(read: Read, place: DirectoryPlace, encoding: str | None, limits: ZipLimits) -> Scan:
    """Check each entry by itself, and their number and size.

    Raises VolumeRefusedError for the first entry that is refused, and NameNotUtf8Error as `decode_name` does.
    """
    scan, total = Scan(), 0
    for header in read_headers(read, place):
        _check_entry(header, place.start)
        path = build_path(decode_name(header, encoding))
        if path.endswith("/") and header.size:
            message = "its name is that of a folder, and it has bytes. Give the file a name, and make the zip again."
            raise refuse_damaged(message, header.display_name)
        scan.add(header, path)
        total += header.size
        if scan.entries > limits.entries:
            message = f"the zip has more than {limits.entries:,} entries. Split it."
            raise VolumeRefusedError(VolumeFailure.ZIP_TOO_MANY, message, path)
        if total > limits.size:
            message = f"with it the zip has more than {limits.size:,} bytes when expanded. Split it."
            raise VolumeRefusedError(VolumeFailure.ZIP_TOO_LARGE, message, path)
    return scan


def _check_entry(header: Header, directory_start: int) -> None:
    """Raise VolumeRefusedError for an entry that is refused whatever its path and the other entries are."""
    kind = stat.S_IFMT(header.attributes >> 16)
    if header.flags & _ENCRYPTED_FLAGS or header.method == _AES:
        raise _refuse(VolumeFailure.ZIP_ENCRYPTED, header, "it is encrypted. Make the zip without a password.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refuse(VolumeFailure.ZIP_LINK, header, "it is a link or a device. Put the file itself into the zip.")
    if header.method not in (STORED, DEFLATED):
        method = _METHODS.get(header.method, f"method {header.method}")
        message = f"it is compressed with {method}. Make the zip with the method Deflate, or without compression."
        raise _refuse(VolumeFailure.ZIP_METHOD, header, message)
    if header.method == STORED and header.size != header.compressed_size:
        raise refuse_damaged("it is stored and has two sizes. Make the zip again.", header.display_name)
    if header.size > get_max_size(header.compressed_size):
        raise _refuse(VolumeFailure.ZIP_BOMB, header, describe_bomb(header.compressed_size))
    if _find_least_end(header) > directory_start:
        message = "its bytes do not end before the zip's directory. Make the zip again."
        raise _refuse(VolumeFailure.ZIP_OVERLAP, header, message)


def describe_bomb(compressed_size: int) -> str:
    """Return the message about an entry with too many bytes for its compressed size."""
    return (
        f"it has more than 100 MB and more than {MAX_RATIO} times its {compressed_size:,} compressed bytes."
        " Upload the file without a zip."
    )


def _find_least_end(header: Header) -> int:
    """Return where the entry's bytes end if its local header has no extra fields."""
    return header.offset + LOCAL_HEADER_BYTES + len(header.raw_name) + header.compressed_size


def check_duplicates(read: Read, place: DirectoryPlace, encoding: str, hashes: HashBag) -> None:
    """Raise VolumeRefusedError if two files have one path. Equal hashes are not enough."""
    repeated = hashes.list_repeated()
    while batch := set(islice(repeated, _REPEATED_AT_ONCE)):
        seen: set[str] = set()
        for header in read_headers(read, place):
            path = build_path(decode_name(header, encoding))
            digest = int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], "big")
            if digest in batch and find_ignored_kind(path) is None:
                if path in seen:
                    message = "the zip has several entries with this path. Make the zip again."
                    raise VolumeRefusedError(VolumeFailure.ZIP_DUPLICATE, message, path)
                seen.add(path)


def check_ranges(read: Read, place: DirectoryPlace, limits: ZipLimits) -> tuple[int, ...]:
    """Return where the windows of entries begin; raise VolumeRefusedError if two entries share a byte.

    No two ranges share a byte if and only if, both sorted, each end is not after the start that follows it.
    """
    starts, ends = array("Q"), array("Q")
    for header in read_headers(read, place):
        starts.append(header.offset)
        ends.append(_find_least_end(header))
    starts, ends = array("Q", sorted(starts)), array("Q", sorted(ends))
    for end, start in zip(ends, islice(starts, 1, None), strict=False):
        if end > start:
            raise _describe_overlap(read, place, start)
    return tuple(starts[:: limits.window_entries])


def _describe_overlap(read: Read, place: DirectoryPlace, at: int) -> VolumeRefusedError:
    """Return the error about the first two entries that have this byte."""
    found = (each for each in read_headers(read, place) if each.offset <= at < _find_least_end(each))
    first, other = islice(found, 2)
    message = f"its bytes are also those of {shorten_name(other.display_name)}. Make the zip again."
    return _refuse(VolumeFailure.ZIP_OVERLAP, first, message)


def _refuse(code: VolumeFailure, header: Header, message: str) -> VolumeRefusedError:
    return VolumeRefusedError(code, message, header.display_name)
