"""List the objects of a sealed volume once, with their versions, and find its load files.

Guaranteed: an object that is there throughout the listing is in the volume exactly once, with the version that was the
latest when its page was listed; a worker that is killed anywhere leaves pages that the next one does not repeat; one
of several workers stores a page. A declared file that is missing fails the volume. What arrives after the listing, or
replaces a listed version, is counted as late: every later read names the listed version.
Not guaranteed: that an object which is put during the listing is in the volume rather than late, or that one which is
put after the count of late ones is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Session

from core.codes import VolumeFailure
from core.errors import ImportBusyError
from core.statuses import VolumeStatus
from core.volumes.candidates import CandidateList
from core.volumes.discovery import DiscoveredFiles, discover_files
from core.volumes.errors import VolumeRefusedError, shorten_name
from core.volumes.folders import FolderSurvey
from core.volumes.paths import fold_path, hash_path
from core.volumes.zip_names import find_ignored_kind
from shell.aws.object_versions import ListedVersion, list_latest
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.settings import settings
from shell.tables.volumes import Volumes, VolumeUploads
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import is_storable
from shell.volume_files.same_names import hash_name
from shell.volumes.candidates import store_candidates
from shell.volumes.records import RETRY_AFTER_S

PAUSE_S = 60
ROWS_PER_PAGE, ROWS_PER_DELETE = 1_000, 10_000
MAX_LISTED = 20
FILE_COLUMNS = (
    *("volume_id", "file_no", "path", "path_hash", "size", "version_id", "etag", "unit_no", "entry", "name_hash"),
)

_IS_LISTED = "id = :volume_id AND generation = :generation AND status = 'sealed' AND listed_at IS NULL"
_LOCK_UNLISTED = text(f"SELECT id FROM volumes WHERE {_IS_LISTED} AND list_position IS NULL FOR UPDATE")  # noqa: S608
_DELETE_FILES = text("DELETE FROM volume_files WHERE volume_id = :volume_id LIMIT :most")
_DELETE_UNITS = text("DELETE FROM volume_units WHERE volume_id = :volume_id")
_MOVE = text(f"UPDATE volumes SET list_position = :after WHERE {_IS_LISTED} AND list_position <=> :before")  # noqa: S608
_END = text(
    "UPDATE volumes SET list_position = NULL, listed_at = NOW(6), files = :files, bytes = :bytes, "  # noqa: S608
    "ignored = :ignored, units = :units, units_left = :units "
    f"WHERE {_IS_LISTED} AND list_position <=> :before"
)
_PATHS = text(
    "SELECT file_no, path, size FROM volume_files WHERE volume_id = :volume_id AND file_no >= :first "
    "ORDER BY file_no LIMIT :most"
)
_LOOK_UP = text(
    "SELECT path, size, version_id, etag FROM volume_files WHERE volume_id = :volume_id AND path_hash IN :hashes"
).bindparams(bindparam("hashes", expanding=True))


@dataclass(frozen=True)
class ListPosition:
    """How far a listing is: what was stored, and where it goes on."""

    page: int = 0
    markers: tuple[str, ...] = ()
    files: int = 0
    bytes: int = 0
    ignored: int = 0
    units: int = 0

    def to_json(self) -> str:
        """Return the position for `list_position`. Two positions of a listing have different texts."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, document: str) -> ListPosition:
        """Return the position that `to_json` wrote."""
        stored = json.loads(document)
        return cls(**{**stored, "markers": tuple(stored["markers"])})

    def move(self, rows: Sequence[tuple[Any, ...]], size: int) -> ListPosition:
        """Return the position after rows of files with so many bytes."""
        return replace(self, page=self.page + 1, files=self.files + len(rows), bytes=self.bytes + size)


def register_objects(volume: Volumes) -> bool:
    """Store the files of a sealed volume, a page of 1,000 at a time; return False if the deadline nears before the end.

    Raises ImportBusyError if another worker lists the volume, VolumeRefusedError for a key that is not a path.
    """
    position, is_deadline_near = begin_listing(volume), build_deadline_check(PAUSE_S)
    while True:
        page = list_latest(settings().bucket, volume.prefix, position.markers)
        rows, size, ignored = _build_rows(volume, page.objects, position.files)
        moved = replace(position.move(rows, size), markers=page.next, ignored=position.ignored + ignored)
        if not page.next:
            end_listing(volume, position, moved, rows)
            return True
        store_page(volume, position, moved, rows)
        if is_deadline_near():
            return False
        position = moved


def _build_rows(
    volume: Volumes, objects: Sequence[ListedVersion], first: int
) -> tuple[list[tuple[Any, ...]], int, int]:
    """Return the rows of a page, the sum of their sizes, and how many objects are left out."""
    rows, size, ignored = list[tuple[Any, ...]](), 0, 0
    for each in objects:
        path = each.key.removeprefix(volume.prefix)
        if not path or find_ignored_kind(path) is not None:
            ignored += bool(path) and not path.endswith("/")
            continue
        check_storable(path)
        place = (volume.id, first + len(rows), path, hash_path(fold_path(path)), each.size)
        rows.append((*place, each.version_id, each.etag, None, None, hash_name(path)))
        size += each.size
    return rows, size, ignored


def check_storable(path: str) -> None:
    """Raise VolumeRefusedError for a path that the database cannot store."""
    if not path.isascii() and not is_storable(path, "volume_files", "path"):
        message = "the database cannot store a character of the name, such as an emoji. Rename the file."
        raise VolumeRefusedError(VolumeFailure.ZIP_PATH, message, path)


def begin_listing(volume: Volumes) -> ListPosition:
    """Return where the listing goes on; before its first page, delete what a listing of an earlier generation left."""
    if volume.list_position:
        return ListPosition.from_json(volume.list_position)
    while _clear(volume):
        pass
    return ListPosition()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _clear(volume: Volumes) -> bool:
    """Delete some rows of the volume's files; return False once none is left, and the listing has begun."""
    values = {"volume_id": volume.id, "generation": volume.generation}
    with session() as transaction:
        if transaction.execute(_LOCK_UNLISTED, values).first() is None:
            raise ImportBusyError(retry_after_s=RETRY_AFTER_S)
        deleted = transaction.execute(_DELETE_FILES, {"volume_id": volume.id, "most": ROWS_PER_DELETE})
        if count_changed_rows(deleted):
            return True
        transaction.execute(_DELETE_UNITS, {"volume_id": volume.id})
        transaction.execute(_MOVE, {**values, "before": None, "after": ListPosition().to_json()})
        return False


@retry_on_db_conflict
def store_page(
    volume: Volumes, before: ListPosition, after: ListPosition, rows: Sequence[tuple[Any, ...]], unit: int | None = None
) -> None:
    """Store the files of a page, and the unit that they are; raise ImportBusyError if another worker did."""
    with session() as transaction:
        _advance(transaction, _MOVE, volume, before, {"after": after.to_json()})
        _insert(transaction, volume, rows, unit)


@retry_on_db_conflict
def end_listing(
    volume: Volumes, before: ListPosition, after: ListPosition, rows: Sequence[tuple[Any, ...]] = ()
) -> None:
    """Store the last page and the sums; raise ImportBusyError if another worker did."""
    sums = {"files": after.files, "bytes": after.bytes, "ignored": after.ignored, "units": after.units}
    with session() as transaction:
        _advance(transaction, _END, volume, before, sums)
        _insert(transaction, volume, rows)


def _advance(
    transaction: Session, statement: Any, volume: Volumes, before: ListPosition, values: dict[str, Any]
) -> None:
    place = {"volume_id": volume.id, "generation": volume.generation, "before": before.to_json()}
    if count_changed_rows(transaction.execute(statement, {**place, **values})) != 1:
        # Busy, not done: if this is the same message delivered twice, the other worker may still die.
        raise ImportBusyError(retry_after_s=RETRY_AFTER_S)


def _insert(transaction: Session, volume: Volumes, rows: Sequence[tuple[Any, ...]], unit: int | None = None) -> None:
    insert_new(transaction, "volume_files", FILE_COLUMNS, rows)
    if unit is not None:
        insert_new(transaction, "volume_units", ("volume_id", "unit_no"), [(volume.id, unit)])


def discover(volume: Volumes) -> tuple[DiscoveredFiles, dict[str, list[str]]]:
    """Return the load files that the request names, or that the volume has, and the folders beside them.

    Raises VolumeRefusedError if there is none, or several; the candidates are stored before.
    """
    request, folders, candidates = json.loads(volume.import_request or "{}"), FolderSurvey(), CandidateList()
    files = candidates.watch(folders.watch((row.path, row.size) for row in _list_paths(volume.id)))
    choices = {name: request.get(name) for name in ("load_file", "image_load_file")}
    try:
        found = discover_files(files, **choices)
    finally:
        store_candidates(volume, candidates.list_first())
    return found, folders.select_near(found.list_paths())


def _list_paths(volume_id: int) -> Iterator[Any]:
    page = _read_paths(volume_id, 0)
    while page:
        yield from page
        page = _read_paths(volume_id, page[-1].file_no + 1)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_paths(volume_id: int, first: int) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(_PATHS, {"volume_id": volume_id, "first": first, "most": ROWS_PER_DELETE}).all()


def check_declared(volume: Volumes) -> None:
    """Raise VolumeRefusedError (FILES_MISSING) unless every declared file is in the volume with its size."""
    after, missing = b"", list[str]()
    while page := _read_uploads(volume.id, after):
        expected = [row for row in page if find_ignored_kind(row.path) is None]
        found = _look_up(volume.id, [row.path for row in expected])
        missing += [row.path for row in expected if row.path not in found or found[row.path].size != row.size]
        after = page[-1].path_hash
    if missing:
        raise VolumeRefusedError(VolumeFailure.FILES_MISSING, describe_missing(missing))


def describe_missing(missing: Sequence[str]) -> str:
    """Return the message about declared files that are missing."""
    names = ", ".join(map(shorten_name, sorted(missing)[:MAX_LISTED]))
    more = f" and {len(missing) - MAX_LISTED:,} more" if len(missing) > MAX_LISTED else ""
    what = "1 declared file is" if len(missing) == 1 else f"{len(missing):,} declared files are"
    return f"{what} not in the bucket with the declared size: {names}{more}. Upload them and import the volume again."


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_uploads(volume_id: int, after: bytes) -> Sequence[VolumeUploads]:
    query = select(VolumeUploads).where(VolumeUploads.volume_id == volume_id, VolumeUploads.path_hash > after)
    with session() as reading:
        return reading.scalars(query.order_by(VolumeUploads.path_hash).limit(ROWS_PER_PAGE)).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _look_up(volume_id: int, paths: Sequence[str]) -> dict[str, Any]:
    """Return the files of the volume that have these paths, by path."""
    hashes = [hash_path(fold_path(path)) for path in paths]
    if not hashes:
        return {}
    with session() as reading:
        rows = reading.execute(_LOOK_UP, {"volume_id": volume_id, "hashes": hashes}).all()
    return {row.path: row for row in rows}


def find_late_files(volume: Volumes) -> tuple[int, list[str]]:
    """List the bucket again; return how many objects the volume does not have in that version, and the first paths."""
    count, names = 0, list[str]()
    markers: tuple[str, ...] = ()
    while True:
        page = list_latest(settings().bucket, volume.prefix, markers)
        versions = {each.key.removeprefix(volume.prefix): each for each in page.objects}
        present = {path: each for path, each in versions.items() if path and find_ignored_kind(path) is None}
        known = _look_up(volume.id, list(present))
        late = [path for path, each in present.items() if path not in known or _is_other(known[path], each)]
        count, names, markers = count + len(late), (names + late)[:MAX_LISTED], page.next
        if not markers:
            return count, names


def _is_other(known: Any, listed: ListedVersion) -> bool:
    return (known.version_id, known.etag) != (listed.version_id, listed.etag)


def is_sealed(volume: Volumes, generation: int) -> bool:
    """Return whether the volume is to be listed in this generation."""
    return volume.status == VolumeStatus.SEALED and volume.generation == generation
