"""Write a backup of a stack of this machine, also while `serve` runs.

Guaranteed: what is in the file is what the stack would have found if everything had been killed at one moment, so that
a restored stack goes on as after a restart. In that moment no object is created or deleted, because the lock of the
index's writers is held while the snapshots of the database and of the index are taken: a row of the one snapshot names
no object that the other lacks. The bytes are copied after it; until then, no file of an object is deleted.
Not guaranteed: the database that DATABASE_URL names, which has backups of its own server.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.backup.archive import ArchiveWriter, check_new_file, write_archive
from local.backup.dump import Dump
from local.errors import LocalError, StackBusyError
from local.services.disk_space import check_disk_space
from local.services.mysql import PrivateServer
from local.services.state_lock import lock_state_directory
from local.stack.local_stack import SCHEMA
from local.stack.places import DATABASE, find_storage
from local.stack.restored import finish_restore
from local.storage.blobs import Blobs, hold_blobs
from local.storage.index import INDEX_FILE
from local.storage.storage import Storage

FOLDER = "backup"
_BUSY_SECONDS = 60.0


@dataclass(frozen=True)
class BackupSummary:
    """What a backup has: the rows of each table, the number of objects' versions, and the bytes of their files."""

    path: Path
    tables: dict[str, int]
    objects: int
    bytes: int


def backup(state_dir: Path, path: Path) -> BackupSummary:
    """Write the private database and the objects of a state directory to a new file of mode 0600.

    Raises UsageError if the file exists, and LocalError if there is no database, if the disk is too full, or if a
    command that has no database server yet uses the directory.
    """
    if not (state_dir / DATABASE / "data").exists():
        raise LocalError("there is nothing to back up yet; import a file first")
    # Before a server is started for it.
    check_new_file(path.resolve())
    storage = find_storage(state_dir, None)
    # Two backups may run at once: each has a folder of its own. What a kill leaves is deleted by `reset`.
    with (
        _run_database(state_dir) as url,
        write_archive(path.resolve()) as archive,
        tempfile.TemporaryDirectory(prefix=f"{FOLDER}-", dir=state_dir) as work,
        hold_blobs(storage),
    ):
        return _write(archive, url, storage, Path(work), path)


def _write(archive: ArchiveWriter, url: str, storage: Path, work: Path, path: Path) -> BackupSummary:
    with _take_snapshots(url, storage, work / INDEX_FILE) as dump:
        blobs, objects = _list_blobs(work / INDEX_FILE)
        size = sum(blobs.values())
        check_disk_space(path.resolve().parent, size)
        (work / "schema.json").write_text(json.dumps(dump.describe()), encoding="utf-8")
        with gzip.open(work / "rows.sql.gz", "wb", compresslevel=1) as rows:
            tables = {table: dump.write_rows(table, rows) for table in dump.list_tables()}  # type: ignore[arg-type]
    for folder, name in (("database", "schema.json"), ("database", "rows.sql.gz"), ("objects", INDEX_FILE)):
        archive.add(f"{folder}/{name}", (work / name).open("rb"))
    for blob in blobs:
        archive.add(f"objects/blobs/{blob}", Blobs(storage).open(blob))
    written = datetime.now(UTC).isoformat(timespec="seconds")
    archive.add_manifest({"written": written, "tables": tables, "objects": objects, "bytes": size})
    return BackupSummary(path, tables, objects, size)


@contextmanager
def _run_database(state_dir: Path) -> Iterator[str]:
    """Yield the URL of the private database: that of the command that uses it, or of a server for the block."""
    server = PrivateServer(state_dir / DATABASE)
    try:
        with lock_state_directory(state_dir):
            finish_restore(state_dir)
            # A storage of an earlier version has no folder yet.
            Storage(find_storage(state_dir, None)).close()
            server.start()
            try:
                yield server.url(SCHEMA)
            finally:
                if server.was_started_here:
                    server.stop()
    except StackBusyError:
        if not server.is_running():
            raise
        yield server.url(SCHEMA)


@contextmanager
def _take_snapshots(url: str, storage: Path, target: Path) -> Iterator[Dump]:
    """Copy the index, and yield the rows of the database, as both are in one moment without writers of objects."""
    source = sqlite3.connect(storage / INDEX_FILE, timeout=_BUSY_SECONDS, isolation_level=None)
    target.touch(mode=0o600)
    with closing(source), closing(sqlite3.connect(target)) as copy:
        source.execute("BEGIN IMMEDIATE")
        dump = Dump(url)
        try:
            with closing(sqlite3.connect(storage / INDEX_FILE)) as reader:
                reader.backup(copy)
        finally:
            source.execute("ROLLBACK")
    with dump:
        yield dump


def _list_blobs(index: Path) -> tuple[dict[str, int], int]:
    """Return the sizes of the files that an index names, and how many versions of objects it has."""
    with closing(sqlite3.connect(index)) as copy:
        blobs = dict(copy.execute("SELECT blob, MAX(start + size) FROM segments GROUP BY blob ORDER BY blob"))
        objects: Any = copy.execute("SELECT COUNT(*) FROM versions WHERE content IS NOT NULL").fetchone()[0]
    return blobs, int(objects)
