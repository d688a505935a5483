"""The published pattern's import of a chunk with its locking: names are locked in the order of the rows.

One transaction per chunk: an insert-or-get in a SAVEPOINT for each name, FOR UPDATE of each custodian and tag, then the
exhibits and the links as in `pattern_bulk`. A conflict is retried, up to five attempts, after 0.2 s times the number of
the attempt. Conflicts are classified as in the application: also a deadlock that removed the SAVEPOINT and is therefore
reported as error 1305, which the pattern does not retry.
"""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import create_engine, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from benchmarks.imports.baselines import NAMED, Chunk, insert_or_get, save_exhibits, save_links
from shell.db.errors import DbErrorClass, classify

ATTEMPTS, PAUSE_S = 5, 0.2


class LockingPattern:
    """An importer of chunks into the tables of a schema; `retries` counts the attempts after the first of each chunk.

    `compiled` is the cache of compiled statements, shared between schemas.
    """

    def __init__(self, url: str, compiled: dict[Any, Any]) -> None:
        engine = create_engine(url, isolation_level="READ COMMITTED")
        self._engine = engine.execution_options(compiled_cache=compiled)
        self.retries = 0

    def connect(self) -> None:
        """Connect before the first chunk."""
        self._engine.connect().close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def import_chunk(self, chunk: Chunk) -> bool:
        """Import a chunk; return False after the last attempt failed."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with Session(self._engine) as session, session.begin():
                    _write_chunk(session, chunk)
                return True
            except DBAPIError as error:
                if classify(error) is not DbErrorClass.TRANSACTION:
                    raise
            if attempt < ATTEMPTS:
                self.retries += 1
                time.sleep(PAUSE_S * attempt)
        return False


def _write_chunk(session: Session, chunk: Chunk) -> None:
    """Write the chunk in the session's transaction."""
    ids = {model: _lock_names(session, model, chunk) for model, _, _ in NAMED}
    stored = save_exhibits(session, chunk)
    for model, link, column in NAMED:
        links = chunk.names[model.__tablename__]
        rows = [
            {"exhibit_id": stored[number], column: ids[model][name], "user_id": user} for number, name, user in links
        ]
        save_links(session, link, rows)


def _lock_names(session: Session, model: Any, chunk: Chunk) -> dict[str, int]:
    """Return the ids of the names, locked in the order of the rows."""
    names = dict.fromkeys(name for _, name, _ in chunk.names[model.__tablename__])
    ids = {name: insert_or_get(session, model, chunk.case_id, name) for name in names}
    for each in ids.values():
        session.execute(select(model.id).where(model.id == each).with_for_update())
    return ids
