"""The index of the stored objects and messages: one SQLite database, which is written in transactions.

Two processes write to it: that of S3 and SQS, and that of the durable executions.

Guaranteed: a transaction that has been committed survives the end of the process and of the machine
(https://www.sqlite.org/pragma.html#pragma_synchronous: FULL, in WAL mode); one that has not leaves nothing. Threads
write one after the other and read at the same time; a thread sees its own changes before they are committed. What is
deleted is overwritten. Only the owner of the folder can read it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.errors import LocalError
from local.private_files import make_private_folder

INDEX_FILE = "index.db"
FORMAT = 1

# A backup holds the lock of the writers for the moment in which it takes its two snapshots.
_BUSY_SECONDS = 60.0
_TABLES = """
CREATE TABLE contents (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE segments (
    content INTEGER NOT NULL, position INTEGER NOT NULL, blob TEXT NOT NULL, start INTEGER NOT NULL,
    size INTEGER NOT NULL, PRIMARY KEY (content, position)
) WITHOUT ROWID;
CREATE INDEX segments_by_blob ON segments (blob);
CREATE TABLE versions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, bucket TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL,
    content INTEGER, size INTEGER NOT NULL, etag TEXT NOT NULL, created TEXT NOT NULL, facts TEXT NOT NULL
);
CREATE UNIQUE INDEX versions_by_name ON versions (bucket, name, seq);
CREATE TABLE uploads (
    id TEXT PRIMARY KEY, bucket TEXT NOT NULL, name TEXT NOT NULL, created TEXT NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE parts (
    upload TEXT NOT NULL, number INTEGER NOT NULL, content INTEGER NOT NULL, size INTEGER NOT NULL,
    etag TEXT NOT NULL, created TEXT NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (upload, number)
);
CREATE TABLE doomed (blob TEXT PRIMARY KEY);
CREATE TABLE messages (
    id TEXT PRIMARY KEY, queue TEXT NOT NULL, body TEXT NOT NULL, facts TEXT NOT NULL, sent TEXT NOT NULL
);
CREATE TABLE executions (
    arn TEXT PRIMARY KEY, function TEXT NOT NULL, name TEXT NOT NULL, payload TEXT NOT NULL,
    retention_days INTEGER NOT NULL, is_complete INTEGER NOT NULL, clock REAL NOT NULL, execution TEXT NOT NULL,
    saved TEXT NOT NULL
);
"""


class _Scope(threading.local):
    """The transaction of a thread: how many blocks are open, and what to do after the commit."""

    depth = 0
    begun = False

    def __init__(self) -> None:
        self.before: list[Callable[[], None]] = []
        self.after: list[Callable[[], None]] = []


class Index:
    """The index in a folder, which is created where it is missing; raises LocalError for one of a newer version."""

    def __init__(self, folder: Path) -> None:
        path = make_private_folder(folder) / INDEX_FILE
        path.touch(mode=0o600)
        self._writer, self._reader = _connect(path), _connect(path)
        self._writing, self._reading = threading.RLock(), threading.Lock()
        self._scope = _Scope()
        _create_tables(self._writer, path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block writes, or nothing of it if it raises; a block within a block is part of it.

        The lock is taken at the first statement that writes.
        """
        scope = self._scope
        scope.depth += 1
        try:
            yield
            if scope.depth == 1:
                for action in scope.before:
                    action()
                self._end(scope, "COMMIT")
        except BaseException:
            if scope.depth == 1:
                scope.after.clear()
                self._end(scope, "ROLLBACK")
            raise
        finally:
            scope.depth -= 1
            if not scope.depth:
                scope.before.clear()
        if not scope.depth:
            _run_all(scope.after)

    def write(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement that writes, in the transaction of this thread, which must be open."""
        assert self._scope.depth  # noqa: S101 - else nothing would commit it
        self.begin()
        return self._writer.execute(statement, values)

    def begin(self) -> None:
        """Keep other writers out from here to the end of the transaction of this thread."""
        if not self._scope.begun:
            self._writing.acquire()
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            except BaseException:
                self._writing.release()
                raise
            self._scope.begun = True

    def read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query, with the changes of this thread's transaction."""
        if self._scope.begun:
            return self._writer.execute(query, values).fetchall()
        with self._reading:
            return self._reader.execute(query, values).fetchall()

    def before_commit(self, action: Callable[[], None]) -> None:
        """Run an action, which may write, when the transaction of this thread is about to be committed."""
        self._scope.before.append(action)

    def after_commit(self, action: Callable[[], None]) -> None:
        """Run an action once the transaction of this thread is committed and its lock released; now without one."""
        self._scope.after.append(action)
        if not self._scope.depth:
            _run_all(self._scope.after)

    def close(self) -> None:
        """Close the connections."""
        self._reader.close()
        self._writer.close()

    def _end(self, scope: _Scope, statement: str) -> None:
        if scope.begun:
            try:
                self._writer.execute(statement)
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                scope.begun = False
                self._writing.release()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _create_tables(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        for statement in _TABLES.split(";") if not found else ():
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {max(found, FORMAT)}")
    finally:
        connection.execute("COMMIT")
    if found > FORMAT:
        raise LocalError(
            f"{path} was written by a newer version of exhibit-ingest (format {found}, this one knows {FORMAT});"
            " use that version, or delete everything with `reset`"
        )


def _run_all(actions: list[Callable[[], None]]) -> None:
    """Run every action, whatever becomes of the others; raise the first error after all of them."""
    waiting, failed = actions[:], list[Exception]()
    actions.clear()
    for action in waiting:
        try:
            action()
        except Exception as exc:
            failed.append(exc)
    if failed:
        raise failed[0]
