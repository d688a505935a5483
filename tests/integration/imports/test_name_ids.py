"""The ids of custodians and tags that a chunk links to are those that were committed."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import CommitOutcomeUnknownError
from shell.db import session as session_module
from tests.support.application.driver import World

FILE = b"Control Number,Title,Custodian,Tags\r\nA-1,one,Ann,Hot\r\n"
TABLES = ("custodians", "tags")


class LostCommit:
    """The COMMIT of a chunk's names, lost in a crash, after which the server gives their ids to others."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self._world, self._commit = world, session_module._commit
        self.given_away: list[int] = []
        monkeypatch.setattr(session_module, "_commit", self)

    def __call__(self, opened: Session) -> None:
        """Commit, unless the transaction is the one that adds the names."""
        added = [opened.scalar(text(f"SELECT id FROM {table} WHERE name IN ('Ann', 'Hot')")) for table in TABLES]
        if self.given_away or None in added:
            self._commit(opened)
            return
        opened.rollback()
        self.given_away = [int(each or 0) for each in added]
        for table, given in zip(TABLES, self.given_away, strict=True):
            self._world.query(f"INSERT INTO {table} (id, case_id, name) SELECT {given}, id, 'Privileged' FROM cases")
        raise CommitOutcomeUnknownError


def test_an_id_that_was_given_to_another_name_after_a_lost_commit_is_not_linked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = world.start(FILE)
    lost = LostCommit(world, monkeypatch)
    (message,) = world.chunk_messages()
    assert world.import_chunk(message)
    assert lost.given_away
    dump = world.dump(import_id)
    assert {row[1] for row in dump["custodian_exhibits"]} == {b"Ann"}
    assert {row[1] for row in dump["taggings"]} == {b"Hot"}
