"""A purge that is killed anywhere, again and again, counts everything once; an older worker commits nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
from typing import Any

import pytest
from sqlalchemy import select

from shell.aws import all_versions
from shell.purges import fence, objects, run
from shell.purges.plan import WALKS, list_purged
from shell.purges.turns import TurnOverError, take_turn
from shell.tables import metadata
from tests.integration.purges.test_purged_cases import count_rows, list_keys, matches
from tests.support.application.driver import World
from tests.support.database.application_user import administrator_engine
from tests.support.faults.step_hooks import KilledError, at_every_step
from tests.support.purges.filled_cases import TENANT, FilledCase, fill_case
from tests.support.purges.runs import drive, end_pauses, has_ended, request, stored

_BY_ID = {child.table for walk in WALKS for child in walk.children if child.ids} | {
    walk.table for walk in WALKS if walk.id == "id"
}


def digests(case: FilledCase) -> dict[str, str]:
    """The digest of each table's keys: SHA-256 of the one before and of the key as JSON, from 32 zero bytes on."""
    found = {}
    with administrator_engine().begin() as reading:
        for name in set(list_purged()):
            table = metadata().tables[name]
            key = [table.c.id] if name in _BY_ID else list(table.primary_key)
            # The last digit of each id of a filled case is that of the case.
            rows = [row for row in reading.execute(select(*key)) if _ends_in(row[0], case.case_id)]
            chain = bytes(32)
            for row in sorted(map(tuple, rows)):
                text = json.dumps([each.hex() if isinstance(each, bytes) else each for each in row], ensure_ascii=False)
                chain = hashlib.sha256(chain + text.encode()).digest()
            found[name] = chain.hex()
    return found


def _ends_in(number: int, digit: int) -> bool:
    return number % 10 == digit


class _Killer:
    """Ends the worker at a step that it draws, and draws another one for the next worker."""

    def __init__(self, seed: int) -> None:
        self._random, self.kills = random.Random(seed), 0
        self._left = 1

    def step(self, _number: int) -> None:
        self._left -= 1
        if self._left <= 0:
            self.kills += 1
            # A batch of imports has some fifty steps: one must get through it.
            self._left = self._random.randint(1, 120)
            raise KilledError


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_purge_that_is_killed_at_any_statement_has_the_same_certificate(world: World, seed: int) -> None:
    case, killer = fill_case(world, 1), _Killer(seed)
    expected, rows = digests(case), case.rows
    request(world, 1)
    while not has_ended(world, 1):
        with at_every_step(world, killer.step, killer.step), contextlib.suppress(KilledError):
            run.take_purges_on()
        end_pauses(world)
    certificate = stored(world, 1)
    assert killer.kills > 15, killer.kills
    assert matches(certificate, case)
    assert {each.table: each.sha256 for each in certificate.rows} == {name: expected[name] for name in rows}


def test_a_worker_that_is_killed_after_s3_deleted_counts_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    case, delete, kills = fill_case(world, 1, rows=1), all_versions.delete_all, [3]

    def delete_and_die(*arguments: Any) -> Any:
        result = delete(*arguments)
        kills[0] -= 1
        if kills[0] >= 0:
            raise KilledError
        return result

    monkeypatch.setattr(objects, "delete_all", delete_and_die)
    request(world, 1)
    for _ in range(3):
        with pytest.raises(KilledError):
            run.take_purges_on()
        end_pauses(world)
    certificate = drive(world, 1)
    assert matches(certificate, case)
    assert not any(key in case.keys for key in list_keys(world))


def test_a_worker_whose_turn_another_one_has_commits_nothing(world: World) -> None:
    fill_case(world, 1, rows=1)
    request(world, 1)
    assert fence.begin_purge(1, TENANT)
    older = take_turn(60)
    end_pauses(world)
    newer = take_turn(60)
    assert older is not None
    assert newer is not None
    before = count_rows()
    with pytest.raises(TurnOverError):
        run.take_batch(older)
    assert count_rows() == before
    assert run.take_batch(newer)
