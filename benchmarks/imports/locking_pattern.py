"""The published pattern's import of a chunk as it locks names: in the order in which the rows name them.

One transaction a chunk: an insert-or-get in a SAVEPOINT for each name, FOR UPDATE of each custodian and tag, then the
exhibits and the links as `pattern_bulk` writes them. A conflict is retried, up to five attempts, after 0.2 s times the
attempt. What counts as a conflict is what the application counts as one: also a deadlock that took the SAVEPOINT with
it and is therefore reported as 1305, with which the pattern would give up.
"""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import create_engine, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from benchmarks.imports.rivals import NAMED, Chunk, insert_or_get, save_exhibits, save_links
from shell.utils.db_errors import DbErrorClass, classify

ATTEMPTS, PAUSE_S = 5, 0.2


class LockingPattern:
    """Imports chunks into the tables of that schema; `retries` are its attempts beyond the first of each chunk.

    `compiled` keeps compiled statements from one schema to the next.
    """

    def __init__(self, url: str, compiled: dict[Any, Any]) -> None:
        engine = create_engine(url, isolation_level="READ COMMITTED")
        self._engine = engine.execution_options(compiled_cache=compiled)
        self.retries = 0

    def connect(self) -> None:
        """Now, and not with the first chunk."""
        self._engine.connect().close()

    def close(self) -> None:
        """Leave the server."""
        self._engine.dispose()

    def import_chunk(self, chunk: Chunk) -> bool:
        """Whether it is imported; where not, the pattern has given up."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with Session(self._engine) as session, session.begin():
                    locking_chunk(session, chunk)
                return True
            except DBAPIError as error:
                if classify(error) is not DbErrorClass.TRANSACTION:
                    raise
            if attempt < ATTEMPTS:
                self.retries += 1
                time.sleep(PAUSE_S * attempt)
        return False


def locking_chunk(session: Session, chunk: Chunk) -> None:
    """The chunk, in the session's transaction."""
    ids = {model: _locked(session, model, chunk) for model, _, _ in NAMED}
    stored = save_exhibits(session, chunk)
    for model, link, column in NAMED:
        links = chunk.names[model.__tablename__]
        rows = [
            {"exhibit_id": stored[number], column: ids[model][name], "user_id": user} for number, name, user in links
        ]
        save_links(session, link, rows)


def _locked(session: Session, model: Any, chunk: Chunk) -> dict[str, int]:
    """The ids of the names, each locked as it was met."""
    met = dict.fromkeys(name for _, name, _ in chunk.names[model.__tablename__])
    ids = {name: insert_or_get(session, model, chunk.case_id, name) for name in met}
    for each in ids.values():
        session.execute(select(model.id).where(model.id == each).with_for_update())
    return ids
