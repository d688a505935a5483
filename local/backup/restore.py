"""Restore a backup in place of what a state directory has: all of it, or nothing.

Guaranteed: the backup is checked, loaded into a new database and compared with its manifest beside the present data,
which no failure changes. One rename makes it valid; from then on it takes the place of the present data, if necessary
at the next start of a stack (`finish_restore`). The new database has a password of its own.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from local.backup.archive import extract_archive
from local.backup.backup import BackupSummary
from local.errors import LocalError, UsageError
from local.private_files import make_private_folder
from local.services.disk_space import check_disk_space
from local.services.mysql import PrivateServer
from local.services.mysql_connection import connect
from local.services.state_lock import lock_state_directory
from local.stack.local_stack import SCHEMA
from local.stack.places import DATABASE, OBJECTS
from local.stack.restored import READY, finish_restore
from local.storage.index import INDEX_FILE
from local.storage.storage import Storage

_DRAFT = "restoring"
_ROWS, _SCHEMA_FILE = "rows.sql.gz", "schema.json"


def restore(state_dir: Path, path: Path, *, overwrite: bool = False) -> BackupSummary:
    """Replace the private database and the objects of a state directory with those of a backup.

    Raises UsageError if the directory has data and `overwrite` is not set, LocalError if the backup is damaged or does
    not fit; StackBusyError if another command uses the directory. In each case the directory has what it had.
    """
    with lock_state_directory(state_dir):
        finish_restore(state_dir)
        if has_data(state_dir) and not overwrite:
            raise UsageError(
                f"{state_dir} has data already, which the backup would replace; confirm that with --overwrite,"
                " or write a backup of it first"
            )
        with suppress(OSError):
            check_disk_space(state_dir, 2 * path.stat().st_size)
        draft = state_dir / _DRAFT
        shutil.rmtree(draft, ignore_errors=True)
        try:
            manifest = extract_archive(path, make_private_folder(draft))
            _load_database(draft / DATABASE, manifest["tables"], path)
            _check_objects(draft / OBJECTS, path)
            os.sync()
            PrivateServer(state_dir / DATABASE).stop()
            # From here on the backup is what the directory has.
            draft.rename(state_dir / READY)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        finish_restore(state_dir)
    return BackupSummary(path, manifest["tables"], manifest["objects"], manifest["bytes"])


def has_data(state_dir: Path) -> bool:
    """Return whether a state directory has a private database, or objects of it."""
    return (state_dir / DATABASE / "data").exists() or (state_dir / OBJECTS / INDEX_FILE).exists()


def _load_database(folder: Path, tables: Mapping[str, int], path: Path) -> None:
    """Load the rows into a new server's data directory, and remove what was extracted."""
    server = PrivateServer(folder)
    try:
        server.start()
        with connect(server.url("mysql")) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE `{SCHEMA}` CHARACTER SET utf8mb4")
            connection.select_db(SCHEMA)
            cursor.execute("SET FOREIGN_KEY_CHECKS = 0, UNIQUE_CHECKS = 0, time_zone = '+00:00'")
            cursor.execute("SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')")
            for statement in json.loads((folder / _SCHEMA_FILE).read_text(encoding="utf-8")):
                cursor.execute(statement)
            _insert_rows(connection, folder / _ROWS)
            found = {table: _count(cursor, table) for table in tables}
    finally:
        server.stop()
    if found != dict(tables):
        wrong = next(table for table in tables if found[table] != tables[table])
        raise LocalError(
            f"{path}: table {wrong} has {found[wrong]:,} rows instead of {tables[wrong]:,} after it was loaded;"
            " nothing was changed. Restore it on the kind of server that it was written on"
        )
    for name in (_ROWS, _SCHEMA_FILE):
        (folder / name).unlink()


def _insert_rows(connection: Any, path: Path) -> None:
    with gzip.open(path, "rb") as lines:
        for statement in lines:
            connection.query(statement)


def _count(cursor: Any, table: str) -> int:
    cursor.execute(f"SELECT COUNT(*) AS found FROM `{table}`")  # noqa: S608 - a name of the manifest
    return int(cursor.fetchone()["found"])


def _check_objects(folder: Path, path: Path) -> None:
    """Raise LocalError unless every file that the index names is there, as large as it must be."""
    storage = Storage(folder)
    storage.close()
    with closing(sqlite3.connect(folder / INDEX_FILE)) as index:
        named = list(index.execute("SELECT blob, MAX(start + size) FROM segments GROUP BY blob"))
    short = [blob for blob, size in named if _measure(storage.blobs.find(blob)) < size]
    if short:
        raise LocalError(f"{path} lacks {len(short):,} files of its objects; use another backup")


def _measure(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return -1
