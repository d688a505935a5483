"""Some of the counted deadlocks and lost COMMITs, and that a careless replay of either is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pymysql.connections import Connection
from pymysql.cursors import Cursor
from pymysql.err import OperationalError

from core.errors import CommitOutcomeUnknownError
from shell.db import retry
from shell.db.errors import DEADLOCK
from tests.support.world import World
from tests.torture.counted import Outcome, run, tortured_world
from tests.torture.counted_faults import Counted
from tests.torture.findings import DOUBLED, LOST
from tests.torture.tortured_database import TorturedDatabase

pytestmark = pytest.mark.slow
MANY = 1000


@pytest.fixture(scope="module")
def counted_world(tortured_server: TorturedDatabase) -> Iterator[World]:
    with tortured_world(tortured_server) as made:
        yield made


def test_every_unit_is_there_once(tortured_server: TorturedDatabase, counted_world: World) -> None:
    outcome = run(tortured_server, counted_world, Counted(1, deadlocks=30, lost=30), 1)
    assert outcome.work.findings == []
    assert min(outcome.faults.inside, outcome.faults.outside, outcome.faults.answers, outcome.faults.requests) > 0
    assert min(outcome.work.units.values()) > 0
    assert "30 deadlocks" in outcome.told()


def broken(at: TorturedDatabase, world: World, faults: Counted, seed: int) -> Outcome:
    """The run up to the first violation."""
    outcome = run(at, world, faults, seed, until_found=True)
    assert outcome.work.findings, outcome.told()
    return outcome


def _blindly(unit: Callable[[], object], _resolve: object) -> object:
    """A twin of the replay: whoever heard nothing of the COMMIT does it again."""
    try:
        return unit()
    except CommitOutcomeUnknownError as unknown:
        raise retry._DidNotCommitError() from unknown


def test_a_lost_commit_that_is_replayed_blindly_is_found(
    tortured_server: TorturedDatabase, counted_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "_run_and_resolve", _blindly)
    outcome = broken(tortured_server, counted_world, Counted(2, deadlocks=0, lost=MANY), 2)
    assert DOUBLED in {finding.kind for finding in outcome.work.findings}


class _Careless(Cursor):
    """A twin of the replay: after a deadlock it goes back to the SAVEPOINT, which it makes again, and no further."""

    def execute(self, query: str, args: object = None) -> int:
        connection: Any = self.connection
        if query.startswith("SAVEPOINT"):
            connection.inside = query
        elif query.startswith(("RELEASE", "ROLLBACK")):
            connection.inside = None
        try:
            return super().execute(query, args)
        except OperationalError as error:
            if error.args[0] != DEADLOCK or not getattr(connection, "inside", None):
                raise
        super().execute(connection.inside)
        return self.execute(query, args)


def test_a_deadlock_that_is_replayed_from_its_savepoint_is_found(
    tortured_server: TorturedDatabase, counted_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "cursor", lambda connection: _Careless(connection))
    outcome = broken(tortured_server, counted_world, Counted(3, deadlocks=MANY, lost=0), 3)
    assert LOST in {finding.kind for finding in outcome.work.findings}
