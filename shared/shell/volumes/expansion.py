"""Read the directory of a volume's zip, and store its entries in units that workers expand.

Guaranteed: no entry is stored before the whole directory was checked; a worker that is killed leaves units that the
next one does not repeat; what an entry's row says is enough to expand it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

from core.codes import VolumeFailure
from core.volumes.errors import VolumeRefusedError
from core.volumes.keys import MAX_KEY_BYTES
from core.volumes.paths import fold_path, hash_path
from core.volumes.zip_directory import ZipEntry, ZipUnit, plan_units, read_directory
from core.volumes.zip_names import FOLDERS
from shell.aws.s3 import ObjectVersion
from shell.deadline import build_deadline_check
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.volume_files.same_names import hash_name
from shell.volumes.sealing import PAUSE_S, begin_listing, check_storable, end_listing, store_page


def get_archive(volume: Volumes) -> ObjectVersion:
    """Return the version of the zip that the volume is."""
    return ObjectVersion(settings().bucket, volume.archive_key or "", volume.archive_version_id, None)


def register_entries(volume: Volumes) -> bool:
    """Store the entries of the zip, a unit at a time; return False if the deadline nears before the end.

    Raises VolumeRefusedError for a zip that is refused, ImportBusyError if another worker does this.
    """
    position, is_deadline_near = begin_listing(volume), build_deadline_check(PAUSE_S)
    archive = get_archive(volume)
    zip_names = json.loads(volume.import_request or "{}").get("zip_names")
    directory = read_directory(archive.read, archive.get_size(), zip_names)
    for unit in plan_units(directory.list_entries()):
        if unit.number < position.units:
            continue
        rows = [_build_row(volume, position.files + at, unit, entry) for at, entry in enumerate(unit.entries)]
        moved = position.move(rows, sum(entry.size for entry in unit.entries))
        moved = replace(moved, units=position.units + 1)
        store_page(volume, position, moved, rows, unit=unit.number + 1)
        position = moved
        if is_deadline_near():
            return False
    ignored = sum(count for kind, count in directory.ignored.items() if kind != FOLDERS)
    end_listing(volume, position, replace(position, ignored=ignored))
    return True


def _build_row(volume: Volumes, file_no: int, unit: ZipUnit, entry: ZipEntry) -> tuple[Any, ...]:
    check_storable(entry.path)
    if len((volume.prefix + entry.path).encode()) > MAX_KEY_BYTES:
        longest = MAX_KEY_BYTES - len(volume.prefix.encode())
        message = f"Its path has more than {longest} bytes of UTF-8. Shorten it, and make the zip again."
        raise VolumeRefusedError(VolumeFailure.ZIP_PATH, message, entry.path)
    hashed = hash_path(fold_path(entry.path))
    place = (volume.id, file_no, entry.path, hashed, entry.size, None, None, unit.number + 1)
    return (*place, encode_entry(entry), hash_name(entry.path))


def encode_entry(entry: ZipEntry) -> str:
    """Return where and how the zip holds the entry, without its path and size, which have columns of their own."""
    raw = None if entry.raw_name == entry.path.encode() else base64.b64encode(entry.raw_name).decode()
    return json.dumps(
        [entry.offset, entry.limit, entry.compressed_size, entry.crc32, entry.method, entry.flags, raw],
        separators=(",", ":"),
    )


def decode_entry(path: str, size: int, document: str) -> ZipEntry:
    """Return the entry that `encode_entry` wrote."""
    offset, limit, compressed_size, crc32, method, flags, raw = json.loads(document)
    raw_name = path.encode() if raw is None else base64.b64decode(raw)
    return ZipEntry(path, raw_name, offset, limit, compressed_size, size, crc32, method, flags)
