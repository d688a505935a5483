"""Of callers who correct and discard the same lines at once, one wins each line, and requests are all or nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import NullPool

from core.caller import Caller
from core.contracts.imports.corrections import Correction, NewCorrections
from core.contracts.refusals import CorrectionRefusedError
from core.errors import StorageUnavailableError
from shell.aws import clients
from shell.imports.corrections import commands
from shell.imports.corrections.commands import NewCorrection
from shell.imports.state.claims import LockedClaims, lock_claims
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from tests.integration.imports.corrections.test_correction_claims import build_file, check_open
from tests.support.application.driver import World, request_messages
from tests.support.database.counted_database import barrier, outcome, together, transaction
from tests.support.faults.step_hooks import KilledError, at_every_step
from tests.support.imports.corrected_rows import CLIENT, deliver, get_state, list_rows, post

CALLERS, LINES = 20, range(3, 13)
CALLER = Caller("tenant", "ann")


@pytest.fixture
def connections(world: World) -> Iterator[Engine]:
    """As many connections as callers: the application's own pool has two."""
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    yield engine
    engine.dispose()


def plan(number: int) -> dict[str, Any]:
    """Four lines, which a caller corrects or discards."""
    chosen = random.Random(number).sample(LINES, 4)
    rows = [{"line": line, "cells": [f"C{number}-{line}", "x"]} for line in chosen[: number % 5]]
    return {"rows": rows, "discard": chosen[number % 5 :]}


def race(connections: Engine, import_id: int) -> list[Correction | Exception]:
    """The answers to all callers, who take effect at once."""
    start = barrier(CALLERS)

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def take_effect(new: NewCorrection) -> Correction:
        with transaction(connections) as opened:
            return new.create(opened, CALLER)

    def call(number: int) -> Correction:
        new = NewCorrection(CALLER, import_id, NewCorrections.model_validate(plan(number)))
        new.write()
        start.wait()
        return take_effect(new)

    return together(*(outcome(lambda number=number: call(number)) for number in range(CALLERS)))  # type: ignore[misc]


def find_lines(number: int) -> set[int]:
    """The lines of a caller."""
    return {*(row["line"] for row in plan(number)["rows"]), *plan(number)["discard"]}


def list_violations(world: World, import_id: int, answers: list[Correction | Exception]) -> list[str]:
    """Lines with two winners, and claims that are not those of the requests that took effect."""
    won = [number for number, answer in enumerate(answers) if isinstance(answer, Correction)]
    taken = [line for number in won for line in find_lines(number)]
    claims = {row[0] for row in world.query("SELECT line_no FROM import_corrections WHERE import_id = :i", i=import_id)}
    corrected = sum(len(plan(number)["rows"]) for number in won)
    rows = world.query("SELECT COALESCE(SUM(rows_seen), 0) FROM imports WHERE corrects_import_id = :i", i=import_id)
    found = [f"line {line} has {taken.count(line)} winners" for line in set(taken) if taken.count(line) > 1]
    found += [] if claims == set(taken) else ["the claims are others"]
    return found + ([] if corrected == rows[0][0] else ["the corrections are others"])


@pytest.mark.parametrize("lock", ["case", "none"])
def test_each_line_has_one_winner(
    world: World, connections: Engine, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the lock of the case, too: then the primary key decides."""
    if lock == "none":
        monkeypatch.setattr(commands, "refuse_during_undo", lambda *_: None)
    import_id = world.run(build_file(len(LINES)))
    answers = race(connections, import_id)
    assert list_violations(world, import_id, answers) == []
    refused = [answer for answer in answers if not isinstance(answer, Correction)]
    assert refused
    assert all(isinstance(answer, CorrectionRefusedError) for answer in refused), refused
    deliver(world)
    won = [find_lines(number) for number, answer in enumerate(answers) if isinstance(answer, Correction)]
    check_open(world, import_id, len(LINES) - len(set().union(*won)))


def test_without_the_look_at_claims_a_line_has_two_winners(
    world: World, connections: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control."""

    def overlook(*place: Any) -> LockedClaims:
        claims = lock_claims(*place)
        return LockedClaims({}, [*claims.taken, *claims.reopened])

    monkeypatch.setattr(commands, "lock_claims", overlook)
    import_id = world.run(build_file(len(LINES)))
    assert list_violations(world, import_id, race(connections, import_id))


@pytest.mark.slow
def test_a_request_that_dies_between_object_and_commit_leaves_no_claim_and_no_import(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each of its statements and COMMITs: the same request under the same key then takes effect once."""
    body = {"rows": [{"line": 3, "cells": ["B-3", "x"]}], "discard": [4]}
    killed = 0
    for step in range(1, 100):
        import_id = world.run(build_file(3), case=f"Case {step}")

        def kill(number: int, last: int = step) -> None:
            if number >= last:
                raise KilledError

        with at_every_step(world, before=kill):
            if CLIENT.post(f"/imports/{import_id}/corrections", body, f"key {step}").status == 201:
                break
        killed += 1
        world.query("UPDATE idempotency_keys SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE status = 'in_progress'")
        deliver(world)
        before = world.query("SELECT COUNT(*) FROM import_corrections WHERE import_id = :i", i=import_id)[0][0]
        assert before in (0, 2)
        again = CLIENT.post(f"/imports/{import_id}/corrections", body, f"key {step}")
        assert again.status == 201, (step, again)
        deliver(world)
        check_open(world, import_id, 1)
        assert len(get_state(import_id)["correctedBy"]) == 1
    assert killed > 10
    listed = clients.s3().list_objects_v2(Bucket=world.bucket, Prefix="corrections/")["Contents"]
    named = {row[0] for row in world.query("SELECT object_key FROM imports")}
    assert {each["Key"] for each in listed} > {key for key in named if key.startswith("corrections/")}


def test_a_request_whose_message_is_not_taken_has_no_effect(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import_id = world.run(build_file(2))

    def refuse(*_: Any, **__: Any) -> None:
        raise StorageUnavailableError

    with monkeypatch.context() as patch:
        patch.setattr(commands, "send_messages", refuse)
        assert post(import_id, {3: ["B-3", "x"]}).status == 503
    assert get_state(import_id)["correctedBy"] == []
    assert [row["correctedBy"] for row in list_rows(import_id)] == [None, None]


def test_a_message_that_comes_before_the_commit_waits_for_it(world: World, connections: Engine) -> None:
    """It locks the row of the import, which the request holds until it commits."""
    import_id = world.run(build_file(2))
    body = {"rows": [{"line": 3, "cells": ["B-3", "x"]}]}
    new = NewCorrection(CALLER, import_id, NewCorrections.model_validate(body))
    new.write()
    with transaction(connections) as opened:
        created = new.create(opened, CALLER).id
        with connections.connect() as looking:
            statement = "SELECT id FROM imports WHERE id = %s FOR UPDATE SKIP LOCKED"
            assert looking.exec_driver_sql(statement, (created,)).all() == []
        assert [message["import_id"] for message in request_messages()] == [created]
