"""Changes of a case at the same time are a history that is possible, and no request writes past a change."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date
from threading import Barrier, Event
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from core.contracts.cases import CaseChange, PurgeRequest
from core.contracts.imports.announcements import NewImport
from core.errors import ExhibitIngestError
from shell.case_state import fence
from shell.cases.commands import patch_case, request_purge, withdraw_purge
from shell.imports.uploads import create_import
from tests.integration.imports.import_requests import CALLER, announce, until_waiting
from tests.support.application.driver import World

CALLERS = 20
_CONFLICTS = (1205, 1213)
Request = Callable[[Session, int], Any]
ANY = range(1_000)


def to_change(**body: Any) -> Request:
    change = CaseChange.model_validate(body)
    return lambda transaction, case_id: patch_case(transaction, CALLER, case_id, ANY, change)


def to_purge(transaction: Session, case_id: int) -> Any:
    request = PurgeRequest.model_validate({"confirm": "Case", "after": date(2027, 1, 31)})
    return request_purge(transaction, CALLER, case_id, request)


def to_withdraw(transaction: Session, case_id: int) -> Any:
    return withdraw_purge(transaction, CALLER, case_id)


def to_announce(transaction: Session, _case_id: int) -> Any:
    return create_import(transaction, CALLER, NewImport.model_validate({"case": "Case", "fileName": "a.dat"}))


HOLD, LIFT = to_change(hold={"reason": "Order"}), to_change(hold=None)
CLOSE, REOPEN = to_change(status="closed"), to_change(status="open")


@pytest.fixture
def connections(world: World) -> Iterator[Engine]:
    """A connection for each caller: the pool of the application has two."""
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    yield engine
    engine.dispose()


@pytest.fixture
def case_id(world: World) -> int:
    """A case, in which an import was announced and cancelled: nothing is in the way of a purge."""
    assert world.bucket
    return announce().case_id


def send(engine: Engine, request: Request, case_id: int, before_commit: Callable[[], object] = lambda: None) -> Any:
    """Send a request in a transaction of its own, again after a conflict; what it returned or raised."""
    while True:
        try:
            with Session(engine) as transaction, transaction.begin():
                result = request(transaction, case_id)
                before_commit()
                return result
        except ExhibitIngestError as refused:
            return refused
        except DBAPIError as failed:
            if failed.orig is None or failed.orig.args[0] not in _CONFLICTS:
                raise


def find_violation(kinds: list[str]) -> str | None:
    """Replay the recorded changes; return the first that its predecessors do not allow."""
    status, held, requested = "open", False, False
    for number, kind in enumerate(kinds):
        allowed = {
            "closed": status == "open",
            "reopened": status == "closed" and not requested,
            "held": not held and not requested,
            "lifted": held,
            "purge_requested": status == "closed" and not held and not requested,
            "purge_withdrawn": requested,
        }[kind]
        if not allowed:
            return f"{kind} at {number} of {kinds}"
        status = {"closed": "closed", "reopened": "open"}.get(kind, status)
        held = {"held": True, "lifted": False}.get(kind, held)
        requested = {"purge_requested": True, "purge_withdrawn": False}.get(kind, requested)
    return None


def test_a_history_that_is_not_possible_is_found() -> None:
    """The negative control of the replay."""
    assert find_violation(["closed", "purge_requested", "held"]) is not None
    assert find_violation(["closed", "purge_requested", "purge_withdrawn", "held", "lifted", "reopened"]) is None


@pytest.mark.parametrize("seed", range(3))
def test_twenty_callers_leave_a_possible_history(world: World, connections: Engine, case_id: int, seed: int) -> None:
    requests = [HOLD, LIFT, to_purge, CLOSE, REOPEN, to_withdraw, to_announce] * 3
    random.Random(seed).shuffle(requests)
    barrier = Barrier(CALLERS)

    def race(request: Request) -> Any:
        barrier.wait(60)
        return send(connections, request, case_id)

    with ThreadPoolExecutor(CALLERS) as threads:
        list(threads.map(race, requests[:CALLERS]))
    kinds = [row[0] for row in world.query("SELECT kind FROM case_changes ORDER BY id")]
    assert find_violation(kinds) is None
    [case] = world.query("SELECT status, held_at IS NOT NULL, purge_after IS NOT NULL, version FROM cases")
    assert not (case[1] and case[2]), "never both a hold and a requested purge"
    assert case[0] == "closed" or not case[2]


def run_beside_close(world: World, connections: Engine, case_id: int, *, is_fenced: bool) -> bool:
    """Pause a writer before its commit, and close the case meanwhile; return whether it closed before that commit."""
    may_commit = Event()
    with ThreadPoolExecutor(2) as threads:
        writing: Future[Any] = threads.submit(send, connections, to_announce, case_id, lambda: may_commit.wait(60))
        wait_for_writer(world)
        closing = threads.submit(send, connections, CLOSE, case_id)
        if is_fenced:
            until_waiting(world)
        else:
            closing.result(60)
        has_closed = bool(world.query("SELECT status = 'closed' FROM cases")[0][0])
        may_commit.set()
        assert not isinstance(writing.result(60), ExhibitIngestError)
        assert not isinstance(closing.result(60), ExhibitIngestError)
    return has_closed


def wait_for_writer(world: World) -> None:
    """Return once the writer has inserted its row: a locking read that skips nothing would wait for it."""
    for _ in range(600):
        with world.engine.connect() as reading:
            reading.execute(text("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"))
            if reading.execute(text("SELECT COUNT(*) FROM imports")).scalar_one() == 2:
                return
        Event().wait(0.1)
    raise AssertionError("the writer has not written within a minute")


def test_a_writer_that_was_let_in_commits_before_the_case_closes(
    world: World, connections: Engine, case_id: int
) -> None:
    assert not run_beside_close(world, connections, case_id, is_fenced=True)
    assert isinstance(send(connections, to_announce, case_id), ExhibitIngestError)
    assert len(world.query("SELECT id FROM imports")) == 2


def test_without_the_shared_lock_a_writer_commits_into_a_closed_case(
    world: World, connections: Engine, case_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control of the fence."""
    monkeypatch.setattr(fence, "_SHARED", text(fence._READ))
    assert run_beside_close(world, connections, case_id, is_fenced=False)
    assert len(world.query("SELECT id FROM imports")) == 2
