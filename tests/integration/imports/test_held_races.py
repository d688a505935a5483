"""Of requests at once for one held import each transition is taken once, and a late worker registers nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from core.contracts.imports.options import NewOptions
from core.errors import ExhibitIngestError, StaleVersionError, WrongStateError
from shell.imports.commands import cancel_import, retry_import
from shell.imports.splitting.registration import register_chunks
from shell.imports.steps import change_options, check_import, run_import
from tests.integration.imports.held_imports import FILE, OTHER, RIGHT, RUN, at_once, change, check, held
from tests.integration.imports.import_requests import (
    CALLER,
    announce,
    cancel,
    events,
    finish,
    retry,
    run_chunks,
    start,
    state,
)
from tests.support.application.driver import Message, World, request_messages
from tests.support.faults.step_hooks import KilledError, at, at_every_step, kill

CALLERS = 20
_CONFLICTS = (1205, 1213)
Request = Callable[[Session, int], Any]


def to_change(options: dict[str, Any], seen: int = 1) -> Request:
    body = NewOptions.model_validate({"options": options})
    return lambda transaction, import_id: change_options(transaction, CALLER, import_id, {seen}, body)


def to_check(transaction: Session, import_id: int) -> Any:
    return check_import(transaction, CALLER, import_id, {1})


def to_run(transaction: Session, import_id: int) -> Any:
    return run_import(transaction, CALLER, import_id, RUN, {1})


def to_cancel(transaction: Session, import_id: int) -> Any:
    return cancel_import(transaction, CALLER, import_id)


def to_retry(transaction: Session, import_id: int) -> Any:
    return retry_import(transaction, CALLER, import_id)


@pytest.fixture
def connections(world: World) -> Iterator[Engine]:
    """A connection for each caller: the pool of the application has two."""
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    yield engine
    engine.dispose()


def at_the_same_time(engine: Engine, import_id: int, requests: list[Request]) -> list[Any]:
    """Send all at once, each in a transaction of its own; what each returned or raised."""
    barrier = Barrier(len(requests))

    def send(request: Request) -> Any:
        barrier.wait(60)
        while True:
            try:
                with Session(engine) as transaction, transaction.begin():
                    return request(transaction, import_id)
            except ExhibitIngestError as refused:
                return refused
            except DBAPIError as failed:
                # As the application's retries do.
                if failed.orig is None or failed.orig.args[0] not in _CONFLICTS:
                    raise

    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(send, requests))


def kinds(results: list[Any]) -> Counter[type]:
    return Counter(type(each) if isinstance(each, ExhibitIngestError) else object for each in results)


@pytest.mark.parametrize(
    ("request_", "status", "accepted", "refused"),
    [
        (to_change(RIGHT), "uploaded", 1, StaleVersionError),
        (to_check, "splitting", 1, WrongStateError),
        (to_run, "splitting", 1, WrongStateError),
        (to_cancel, "cancelled", CALLERS, WrongStateError),
    ],
)
def test_a_transition_is_taken_once_by_twenty_callers(
    world: World, connections: Engine, request_: Request, status: str, accepted: int, refused: type
) -> None:
    import_id = held(options=RIGHT)
    results = at_the_same_time(connections, import_id, [request_] * CALLERS)
    expected = Counter({object: accepted, refused: CALLERS - accepted})
    assert kinds(results) == +expected
    assert state(import_id).status == status
    assert len(request_messages()) == (status == "splitting")
    assert len(events(world, "import.cancelled")) == (status == "cancelled")


def test_twenty_retries_hold_it_once(world: World, connections: Engine) -> None:
    import_id = held(options=RIGHT)
    cancel(import_id)
    results = at_the_same_time(connections, import_id, [to_retry] * CALLERS)
    assert kinds(results) == Counter({object: 1, WrongStateError: CALLERS - 1})
    assert (state(import_id).status, request_messages()) == ("uploaded", [])
    assert len(events(world, "import.retried")) == 1


@pytest.mark.parametrize("seed", range(3))
def test_what_runs_is_what_a_caller_confirmed(world: World, connections: Engine, seed: int) -> None:
    """Twenty callers who have all seen the first options: some change them, some have them checked or run."""
    import_id = held(options=OTHER, case=f"Race {seed}")
    every: list[Request] = [to_change(RIGHT), to_run, to_check, to_cancel]
    results = at_the_same_time(connections, import_id, [every[(n + seed) % 4] for n in range(CALLERS)])
    by_request = {each: [results[n] for n in range(CALLERS) if every[(n + seed) % 4] is each] for each in every}
    taken = {name: sum(not isinstance(each, Exception) for each in found) for name, found in by_request.items()}
    assert sum(taken[each] for each in every[:3]) <= 2
    assert not (taken[every[0]] and (taken[to_run] or taken[to_check])), "options that were not seen any more"
    if state(import_id).status == "cancelled":
        retry(import_id)
    finish(world)
    found = state(import_id)
    if taken[to_run]:
        assert (found.status, found.options_version) == ("completed", 1)
        assert world.dump(import_id) == world.dump(at_once(world, "At once", **OTHER))
    else:
        assert found.status in ("uploaded", "checked")
        assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]


def interfering(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """Have it done when a worker has split the file and is about to register the chunks; once."""
    register, waiting = register_chunks, [work]

    def registering(*arguments: Any, **named: Any) -> bool:
        if waiting:
            waiting.pop()()
        return register(*arguments, **named)

    monkeypatch.setattr("shell.imports.start.register_chunks", registering)


def check_twice(world: World, monkeypatch: pytest.MonkeyPatch, then: Callable[[int], object]) -> tuple[int, bool]:
    """Two workers split the file for a check; while one is paused, the other one ends it, and `then` is done.

    Returns whether the message of the paused one was acknowledged.
    """
    import_id = held(options=OTHER)
    check(import_id)
    (message,) = request_messages()

    def end() -> None:
        assert start(message)
        run_chunks(world)
        assert state(import_id).status == "checked"
        then(import_id)

    interfering(monkeypatch, end)
    return import_id, start(message)


def split_by(world: World, import_id: int) -> str | None:
    layout = world.query("SELECT layout FROM imports WHERE id = :id", id=import_id)[0][0]
    return layout and ("right" if '"control_number", "title"' in layout else "other")


@pytest.mark.parametrize("next_step", ["change", "change and check", "change and run"])
def test_a_splitter_that_goes_on_after_options_changed_registers_nothing(
    world: World, unlocked: None, monkeypatch: pytest.MonkeyPatch, next_step: str
) -> None:
    sent: list[Message] = []

    def then(import_id: int) -> None:
        change(import_id, 1, RIGHT)
        if "check" in next_step:
            check(import_id, 2)
        if "run" in next_step:
            with Session(world.engine) as transaction, transaction.begin():
                run_import(transaction, CALLER, import_id, RUN, {2})
        sent.extend(request_messages())

    import_id, acknowledged = check_twice(world, monkeypatch, then)
    assert acknowledged == (next_step == "change"), "while another generation is split, it comes again"
    assert split_by(world, import_id) is None
    for message in sent:
        assert start(message)
    finish(world)
    expected = {"change": "uploaded", "change and check": "checked", "change and run": "completed_with_rejections"}
    assert state(import_id).status == expected[next_step]
    if "run" in next_step:
        assert world.dump(import_id) == world.dump(at_once(world, "At once", **RIGHT))


def test_naive_changes_of_the_same_generation_let_a_late_splitter_register_former_options(
    world: World, unlocked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: with the generation of the paused worker, its chunks are those of options that are gone."""

    def then(import_id: int) -> None:
        generation = state(import_id).generation
        change(import_id, 1, RIGHT)
        check(import_id, 2)
        world.query("UPDATE imports SET generation = :g WHERE id = :id", g=generation, id=import_id)
        # What a worker of this generation does first.
        for table in ("import_chunks", "import_checks", "import_duplicates", "import_warnings"):
            world.query(f"DELETE FROM {table} WHERE import_id = :id", id=import_id)

    import_id, acknowledged = check_twice(world, monkeypatch, then)
    assert acknowledged
    assert (split_by(world, import_id), state(import_id).options_version) == ("other", 2)


def test_a_worker_that_is_killed_while_it_deletes_a_former_split_leaves_the_rest_to_the_next(
    world: World, unlocked: None
) -> None:
    import_id = held(FILE, options=OTHER)
    check(import_id)
    finish(world)
    change(import_id, 1, RIGHT)
    check(import_id, 2)
    (message,) = request_messages()
    for number in range(1, 40):
        with at_every_step(world, at(number, kill)) as steps:
            try:
                start(message)
            except KilledError:
                continue
        assert steps.count
        break
    else:
        assert start(message)
    run_chunks(world)
    found = state(import_id)
    assert (found.status, found.imported, found.rejected) == ("checked", 2, 1)


@pytest.mark.parametrize("status", ["splitting", "checking", "running"])
def test_no_statement_starts_an_import_that_is_held(world: World, status: str) -> None:
    """Also that of a function of the previous release, which binds the upload and splits the file."""
    pending = announce(hold=True)
    with pytest.raises(DBAPIError, match="ck_imports_held"):
        world.query("UPDATE imports SET status = :status WHERE id = :id", status=status, id=pending.id)
    assert state(pending.id).status == "awaiting_upload"
