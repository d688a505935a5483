"""Check a zip as a whole from its central directory, list its entries in the order of their bytes, and plan the work.

Guaranteed: no entry is listed before the whole directory was checked; the entries have paths within the volume, all
different, and bytes that no two of them share, as far as the directory says (`inflate` checks the rest); every error
names the entry. Not guaranteed: that paths differ by more than case or composition; `similar_paths` counts those that
do not. Each file is stored under its own path, and a row that names neither exactly gets PATH_AMBIGUOUS.

Memory: 16 bytes an entry while the directory is checked, so 32 MB for the 2,000,000 entries that a zip may have; after
that, nothing that grows with them. Programs write the directory in the order of the bytes. If it is in another one,
sorting takes 32 bytes an entry and 80 MB more at the peak for 2,000,000, and the directory is read once for each
100,000 entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

from core.errors import InvalidInputError
from core.volumes.zip_checks import DEFAULT_LIMITS, ZipLimits, check_duplicates, check_ranges, scan_headers
from core.volumes.zip_names import NAME_ENCODINGS, NameNotUtf8Error, build_path, decode_name, find_ignored_kind
from core.volumes.zip_records import DirectoryPlace, Header, Read, find_directory, read_headers

UNIT_ENTRIES, UNIT_BYTES = 1_000, 64_000_000


class ZipEntry(NamedTuple):
    """A file in a zip: its path in the volume, its name as it is in the zip, and where its bytes are.

    `offset` is the first byte of its local header. Its bytes end at `limit` at the latest: there the next entry or the
    directory begins. Sizes are in bytes.
    """

    path: str
    raw_name: bytes
    offset: int
    limit: int
    compressed_size: int
    size: int
    crc32: int
    method: int
    flags: int


class ZipUnit(NamedTuple):
    """Entries that one worker expands, in the order of their bytes; `number` counts from 0."""

    number: int
    entries: tuple[ZipEntry, ...]

    @property
    def compressed_size(self) -> int:
        """The compressed bytes of all entries."""
        return sum(entry.compressed_size for entry in self.entries)


@dataclass(frozen=True)
class ZipDirectory:
    """The checked directory of a zip.

    `names_encoding` is that of names which do not state theirs. `files` with `size` bytes are to be expanded; `ignored`
    counts the folders and files of systems, by kind. `similar_paths` counts the files whose path is equal to that of a
    file before without case and composition.
    """

    files: int
    size: int
    ignored: Mapping[str, int]
    similar_paths: int
    names_encoding: str
    _read: Read = field(repr=False)
    _place: DirectoryPlace = field(repr=False)
    _windows: tuple[int, ...] | None = field(repr=False)

    def list_entries(self, *, ignored: bool = False) -> Iterator[ZipEntry]:
        """Yield the files in the order of their bytes; with `ignored`, the files of systems instead of the others."""
        directory = Header(b"", b"", 0, 0, 0, 0, 0, 0, self._place.start)
        for header, after in pairwise(chain(self._list_headers(), [directory])):
            path = build_path(decode_name(header, self.names_encoding))
            if not path.endswith("/") and (find_ignored_kind(path) is not None) == ignored:
                yield _build_entry(path, header, after.offset)

    def _list_headers(self) -> Iterator[Header]:
        if self._windows is None:
            yield from read_headers(self._read, self._place)
            return
        for start, end in pairwise((*self._windows, self._place.start)):
            headers = read_headers(self._read, self._place)
            yield from sorted((each for each in headers if start <= each.offset < end), key=lambda each: each.offset)


def read_directory(
    read: Read, size: int, zip_names: str | None = None, limits: ZipLimits = DEFAULT_LIMITS
) -> ZipDirectory:
    """Check the directory of a zip of this many bytes; `read` returns the bytes [start, end) of it.

    `zip_names` is the encoding of names that do not state theirs, one of NAME_ENCODINGS. Without it they are UTF-8 if
    all of them are valid UTF-8, else cp437.

    Raises VolumeRefusedError with the code and the first entry that is refused, and InvalidInputError for an encoding
    that is not supported.
    """
    if zip_names not in (None, *NAME_ENCODINGS):
        raise InvalidInputError(f"zipNames is not supported; use one of {', '.join(NAME_ENCODINGS)}.")
    place = find_directory(read, size)
    try:
        scan, encoding = scan_headers(read, place, zip_names, limits), zip_names or "utf-8"
    except NameNotUtf8Error:
        encoding = "cp437"
        scan = scan_headers(read, place, encoding, limits)
    check_duplicates(read, place, encoding, scan.exact)
    similar = scan.folded.count_repeated()
    windows = None if scan.in_order else check_ranges(read, place, limits)
    return ZipDirectory(scan.files, scan.size, scan.ignored, similar, encoding, read, place, windows)


def plan_units(entries: Iterable[ZipEntry]) -> Iterator[ZipUnit]:
    """Yield units of at most 1,000 entries and 64 MB of compressed bytes; a larger entry is a unit of its own.

    The entries come in the order of `ZipDirectory.list_entries`, and are in the units in the same order.
    """
    number, unit, compressed = 0, list[ZipEntry](), 0
    for entry in entries:
        if unit and (len(unit) == UNIT_ENTRIES or compressed + entry.compressed_size > UNIT_BYTES):
            yield ZipUnit(number, tuple(unit))
            number, unit, compressed = number + 1, [], 0
        unit.append(entry)
        compressed += entry.compressed_size
    if unit:
        yield ZipUnit(number, tuple(unit))


def _build_entry(path: str, header: Header, limit: int) -> ZipEntry:
    return ZipEntry(
        path,
        header.raw_name,
        header.offset,
        limit,
        header.compressed_size,
        header.size,
        header.crc32,
        header.method,
        header.flags,
    )
