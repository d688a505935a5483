"""Expand a unit of a zip: write its entries to the bucket, each once, with their hashes.

Guaranteed: an entry becomes one version of one object, however many workers expand it and whenever they die: S3
refuses the second write of a key, and the object that is there is taken if it has the entry's bytes. A unit counts
once. The last one makes the volume ready in its own transaction; every delivery then requests the imports, after the
commit, because their receiver does not wait for the lock on the volume. Entries are read by their own sizes and checked
against the directory; one that is not what it says fails the volume, and its name is in the message.
Not guaranteed: that an entry of more than about 50 GB can be expanded, because it begins anew in each invocation.

Memory: one block of the zip, and for small entries those that are being written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import text

from core.codes import VolumeFailure
from core.errors import FileRefusedError, StorageUnavailableError
from core.statuses import UnitStatus, VolumeStatus
from core.volumes.errors import VolumeRefusedError
from core.volumes.hashes import FileHasher, FileHashes
from core.volumes.inflate import EntryReader
from core.volumes.zip_directory import ZipEntry
from core.volumes.zip_records import Read
from shell.aws.new_objects import StoredObject, find_object, put_new, put_new_in_parts
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.db.sql_literals import execute_literal, format_row_literals
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.expansion import decode_entry, get_archive
from shell.volumes.listing import become_ready
from shell.volumes.pending_work import UNITS, send_pending_work
from shell.volumes.records import fail_volume, load_volume
from shell.work.units import STOPPED

# An entry with more bytes is written in parts.
LARGEST_PUT = 16_000_000
PUTS_AT_ONCE = 8
READ_BYTES = 8_000_000

_UNIT = text("SELECT status FROM volume_units WHERE volume_id = :volume_id AND unit_no = :unit_no")
_ENTRIES = text(
    "SELECT id, file_no, path, size, entry FROM volume_files WHERE volume_id = :volume_id AND unit_no = :unit_no "
    "ORDER BY file_no"
)
# The rows exist: only the columns after `size` are set.
_FILL = """
    INSERT INTO volume_files (id, volume_id, file_no, path, path_hash, size, version_id, etag, md5, sha1, sha256)
    VALUES (ROWS)
    ON DUPLICATE KEY UPDATE version_id = VALUES(version_id), etag = VALUES(etag), md5 = VALUES(md5),
      sha1 = VALUES(sha1), sha256 = VALUES(sha256)
"""


class _File(NamedTuple):
    """A row of volume_files, and the entry that it has."""

    id: int
    file_no: int
    entry: ZipEntry


class _Expanded(NamedTuple):
    file: _File
    stored: StoredObject
    hashes: FileHashes


def expand_unit(volume_id: int, unit_no: int, generation: int) -> None:
    """Expand a unit, unless that is done; after the last one, have the volume's load files imported.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    volume = load_volume(volume_id)
    if volume is None or volume.generation != generation:
        return
    if volume.status == VolumeStatus.EXPANDING and (files := _list_pending(volume_id, unit_no)):
        try:
            record_unit(volume, unit_no, [_build_row(volume, each) for each in _expand(volume, files)])
        except FileRefusedError as refused:
            fail_volume(volume_id, generation, refused.code, str(refused), unit_no)
            return
    end_unit(volume_id)


def end_unit(volume_id: int) -> None:
    """If the volume is ready, have its imports started, also if the worker that made it ready died before."""
    volume = load_volume(volume_id)
    if volume is not None and volume.status == VolumeStatus.READY:
        send_pending_work(volume_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_pending(volume_id: int, unit_no: int) -> list[_File]:
    """Return the files of a unit; nothing if it is done or does not exist."""
    place = {"volume_id": volume_id, "unit_no": unit_no}
    with session() as reading:
        if reading.execute(_UNIT, place).scalar() in (None, UnitStatus.DONE):
            return []
        rows = reading.execute(_ENTRIES, place).all()
    return [_File(row.id, row.file_no, decode_entry(row.path, row.size, row.entry)) for row in rows]


def _expand(volume: Volumes, files: Sequence[_File]) -> list[_Expanded]:
    """Write all entries, small ones several at a time."""
    read = _BlockReader(get_archive(volume).read, files[-1].entry.limit)
    expanded: list[_Expanded] = []
    with ThreadPoolExecutor(PUTS_AT_ONCE) as executor:
        pending: deque[Future[_Expanded]] = deque()
        for file in files:
            reader = EntryReader(read, file.entry)
            if file.entry.size > LARGEST_PUT:
                expanded.append(_write_large(volume, file, reader))
                continue
            data = b"".join(reader.read_blocks())
            pending.append(executor.submit(_write_small, volume, file, data, _get_hashes(reader)))
            if len(pending) == PUTS_AT_ONCE:
                expanded.append(pending.popleft().result())
        return expanded + [each.result() for each in pending]


class _BlockReader:
    """Reads of the zip, which go forwards, as few requests of blocks."""

    def __init__(self, read: Read, end: int) -> None:
        self._read, self._end = read, end
        self._start, self._block = 0, b""

    def __call__(self, start: int, end: int) -> bytes:
        """Return the bytes [start, end)."""
        if not self._start <= start <= end <= self._start + len(self._block):
            self._start = start
            self._block = self._read(start, max(end, min(start + READ_BYTES, self._end)))
        return self._block[start - self._start : end - self._start]


def _get_hashes(reader: EntryReader) -> FileHashes:
    if reader.hashes is None:
        raise RuntimeError("the entry was not read to its end")
    return reader.hashes


def _write_small(volume: Volumes, file: _File, data: bytes, hashes: FileHashes) -> _Expanded:
    key = volume.prefix + file.entry.path
    stored = put_new(settings().bucket, key, data, bytes.fromhex(hashes.sha256 or ""))
    return _Expanded(file, stored or _reuse_object(key, file, hashes), hashes)


def _write_large(volume: Volumes, file: _File, reader: EntryReader) -> _Expanded:
    key, entry = volume.prefix + file.entry.path, file.entry
    stored = put_new_in_parts(settings().bucket, key, reader.read_blocks(), entry.size, entry.crc32)
    hashes = _get_hashes(reader)
    return _Expanded(file, stored or _reuse_object(key, file, hashes), hashes)


def _reuse_object(key: str, file: _File, hashes: FileHashes) -> StoredObject:
    """Return the object that is at the entry's place, which another worker, or an earlier attempt, has written.

    Raises VolumeRefusedError (ENTRY_CONFLICT) if it has other bytes.
    """
    found = find_object(settings().bucket, key)
    if found is None:
        raise StorageUnavailableError("An object was deleted while its volume was expanded.")
    if found.size != file.entry.size or not _has_bytes(key, found, file, hashes):
        message = "another file is at its place in the bucket. Delete the volume, and upload the zip as a new one."
        raise VolumeRefusedError(VolumeFailure.ENTRY_CONFLICT, message, file.entry.path)
    return found


def _has_bytes(key: str, found: StoredObject, file: _File, hashes: FileHashes) -> bool:
    if found.sha256 is not None:
        return found.sha256.hex() == hashes.sha256
    if found.crc32 is not None:
        return found.crc32 == file.entry.crc32
    hasher = FileHasher()
    for block in ObjectVersion(settings().bucket, key, found.version_id, found.etag).read_blocks(found.size):
        hasher.update(block)
    return hasher.finish().sha256 == hashes.sha256


def record_unit(volume: Volumes, unit_no: int, rows: Sequence[tuple[Any, ...]]) -> None:
    """Record versions and hashes of a unit's files and count it, once; nothing if the volume does not need it now.

    `rows` are in the order of the columns of `_FILL`. Raises ImportBusyError while another worker records the unit.
    """
    with suppress(*STOPPED):
        _record(volume, unit_no, rows)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _record(volume: Volumes, unit_no: int, rows: Sequence[tuple[Any, ...]]) -> None:
    unit = (volume.id, unit_no)
    with session() as transaction:
        UNITS.lock(transaction, *unit)
        if literals := format_row_literals(rows):
            execute_literal(transaction.connection(), _FILL.replace("ROWS", "),(".join(literals)), _FILL)
        if UNITS.complete(transaction, unit, {"status": UnitStatus.DONE.value}, volume.status, volume.generation):
            become_ready(transaction, volume.id)


def _build_row(volume: Volumes, expanded: _Expanded) -> tuple[Any, ...]:
    file, stored, hashes = expanded
    digests = (bytes.fromhex(digest or "") for digest in hashes)
    place = (file.id, volume.id, file.file_no, file.entry.path, bytes(16), file.entry.size)
    return (*place, stored.version_id, stored.etag, *digests)
