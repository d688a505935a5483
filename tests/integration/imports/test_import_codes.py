"""The counts of an import's codes are the sums of its rejections and warnings, at every point at which nothing runs."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, text

from core.contracts.imports.reports import CodeCount
from core.errors import NotFoundError, WrongStateError
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from shell.imports.results import get_codes, list_rejections, list_warnings
from shell.imports.state import code_folding
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import (
    CALLER,
    SIX,
    STRANGER,
    announce,
    cancel,
    finish,
    half_failed,
    put,
    retry,
    run_chunks,
    start,
    start_blocked,
    state,
    whole,
)
from tests.support.application.driver import Message, World, complete_imports, request_messages
from tests.support.database.server_status import statements
from tests.support.imports.counted_codes import add_up, list_miscounts

FAULTS = tuple(Fault(kind) for kind in FaultKind if kind is not FaultKind.HUGE_PROPERTY)
SPEC = Spec(rows=40, seed=11, hot_custodian=None, custodians=4, spice=0.5, faults=FAULTS)
ROWS_A_CHUNK = 5
# Two columns whose names the database holds equal, with values that are too long for the properties of a document.
COLUMNS = f"Control Number,Note,NOTE\r\nA-1,{'n' * 70_000},{'N' * 70_000}\r\n".encode()


def shown(import_id: int) -> dict[tuple[str, str, str], tuple[int, int, int, str]]:
    """The sums as the API returns them."""
    codes = get_codes(CALLER, import_id)
    found: dict[tuple[str, str, str], tuple[int, int, int, str]] = {}
    for kind, counts in (("rejection", codes.rejections), ("warning", codes.warnings)):
        found |= {(kind, each.code, each.column or ""): describe(each) for each in counts}
    return found


def describe(each: CodeCount) -> tuple[int, int, int, str]:
    return each.count, each.rows, each.first_line, each.message


def check(world: World, import_id: int) -> None:
    """The counts are right, and the API returns them."""
    assert list(list_miscounts(world)) == []
    assert shown(import_id) == {key: tuple(each) for key, each in add_up(world, import_id).items()}


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the counts of some chunks are folded, and a window ends among them."""
    monkeypatch.setattr(code_folding, "ROWS_PER_WINDOW", 7)


class Walk:
    """An import to which things happen in an order that a seed gives, until it is completed."""

    def __init__(self, world: World, seed: int) -> None:
        self._world, self._chosen = world, random.Random(seed)
        pending = announce(case=f"Walk {seed}")
        assert start(put(pending, generate(SPEC).data))
        self.import_id = pending.id
        self._messages = world.chunk_messages()
        self._retries = 0

    def steps(self) -> Iterator[str]:
        """Do something, and say what, until every row is imported or rejected for good."""
        while self._messages or self._can_be_retried():
            if not self._messages:
                yield self._retry()
            else:
                yield self._chosen.choices([self._import, self._give_up, self._cancel], [6, 2, 1])[0]()
            if self._retries < 3 and self._chosen.random() < 0.5:
                continue
            complete_imports()
            yield "completed"

    def _can_be_retried(self) -> bool:
        chunks = "SELECT COUNT(*) FROM import_chunks WHERE import_id = :id AND status <> 'done'"
        return self._retries < 3 and bool(self._world.query(chunks, id=self.import_id)[0][0])

    def _take(self) -> Message:
        return self._messages.pop(self._chosen.randrange(len(self._messages)))

    def _import(self) -> str:
        assert self._world.import_chunk(self._take())
        return "imported"

    def _give_up(self) -> str:
        self._world.give_up(self._take())
        return "given up"

    def _cancel(self) -> str:
        try:
            cancel(self.import_id)
        except WrongStateError:
            return "not cancelled"
        late, self._messages = self._messages[:1], []
        for message in late:
            assert self._world.import_chunk(message)
        return "cancelled"

    def _retry(self) -> str:
        self._retries += 1
        complete_imports()
        try:
            retry(self.import_id)
        except WrongStateError:
            return "not retried"
        for message in request_messages():
            assert start(message)
        self._messages = self._world.chunk_messages()
        return "retried"


@pytest.mark.parametrize("seed", range(3))
def test_the_sums_are_right_after_every_step_of_a_walk(world: World, chunk_rows: Chunks, seed: int) -> None:
    chunk_rows(ROWS_A_CHUNK)
    walk = Walk(world, seed)
    check(world, walk.import_id)
    for step in walk.steps():
        assert list(list_miscounts(world)) == [], step
    complete_imports()
    check(world, walk.import_id)


@pytest.mark.slow
def test_a_worker_that_is_killed_with_its_rows_written_leaves_no_count(
    world: World, chunk_rows: Chunks, other: Connection
) -> None:
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    messages = world.chunk_messages()
    # A chunk counts itself down on this row, after all that it writes.
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": pending.id})
    worker = start_blocked(world, "import_chunk", messages[2])
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join(timeout=10)
    other.rollback()
    check(world, pending.id)
    for message in messages:
        assert world.import_chunk(message)
    check(world, pending.id)
    complete_imports()
    check(world, pending.id)


def test_a_retry_takes_back_the_count_of_a_failed_chunk_and_no_other(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    assert shown(import_id)["rejection", "CHUNK_FAILED", ""][:3] == (1, 1, 2)
    before = world.query("SELECT chunk_no, code FROM import_codes WHERE chunk_no > 1 AND chunk_no < 100 ORDER BY 1, 2")
    retry(import_id)
    assert ("rejection", "CHUNK_FAILED", "") not in shown(import_id)
    kept = world.query("SELECT chunk_no, code FROM import_codes WHERE chunk_no > 0 AND chunk_no < 100 ORDER BY 1, 2")
    assert kept == before
    check(world, import_id)
    finish(world)
    check(world, import_id)
    assert shown(import_id) == shown(whole(world))


def test_a_failed_chunk_counts_one_error_of_all_its_rows(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(3)
    import_id = half_failed(world, 1)
    assert shown(import_id)["rejection", "CHUNK_FAILED", ""][:3] == (1, 3, 2)
    check(world, import_id)


def test_columns_whose_names_the_database_holds_equal_are_counted_apart(world: World) -> None:
    import_id = world.run(COLUMNS)
    found = {column for _, _, column in shown(import_id)}
    assert {"Note", "NOTE"} <= found
    check(world, import_id)
    for column in found - {""}:
        filtered = list_warnings(CALLER, import_id, 100, None, column=column)
        assert {each.column for each in filtered.items} == {column}
        assert filtered.total == len(filtered.items)


def test_the_lists_of_one_code_or_column_have_its_items_in_order_and_their_total(world: World) -> None:
    import_id = world.run(generate(SPEC).data)
    for kind, listing in (("rejection", list_rejections), ("warning", list_warnings)):
        everything = listing(CALLER, import_id, 500, None)
        sums = {key: each for key, each in add_up(world, import_id).items() if key[0] == kind}
        assert everything.total == len(everything.items) == sum(each.errors for each in sums.values())
        filters = [{"code": code} for _, code, _ in sums]
        filters += [{"column": column} for _, _, column in sums if column]
        filters += [{"code": code, "column": column} for _, code, column in sums if column]
        assert len(filters) > 4
        for each in filters:
            expected = [item for item in everything.items if each.items() <= item.model_dump().items()]
            items: list[Any] = []
            after, pages = None, 0
            while pages == 0 or after:
                page = listing(CALLER, import_id, 3, after, **each)
                items, after, pages = [*items, *page.items], page.next, pages + 1
                assert page.total == len(expected)
            assert items == expected, each
        assert listing(CALLER, import_id, 3, None, code="NO_SUCH_CODE").items == []


def test_what_an_earlier_version_imported_has_sums_too_and_is_counted_by_its_retry(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    world.query("DELETE FROM import_codes")
    world.query("UPDATE imports SET codes_generation = 0, codes_folded = 0")
    assert shown(import_id) == {key: tuple(each) for key, each in add_up(world, import_id).items()}
    assert list_rejections(CALLER, import_id, 1, None).total == 3
    retry(import_id)
    finish(world)
    assert world.query("SELECT codes_generation, generation FROM imports") == [(2, 2)]
    check(world, import_id)


def test_a_chunk_that_an_earlier_version_wrote_is_counted_at_the_end(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    messages = world.chunk_messages()
    assert world.import_chunk(messages[2])
    assert world.query("SELECT code FROM import_codes WHERE chunk_no = 3") == [("MISSING_ID",)]
    world.query("DELETE FROM import_codes WHERE chunk_no = 3")
    for message in messages:
        assert world.import_chunk(message)
    complete_imports()
    check(world, pending.id)


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_an_import_that_stopped_has_right_sums_with_a_chunk_of_an_earlier_version(
    world: World, chunk_rows: Chunks, status: str, is_late: bool
) -> None:
    """`is_late`: all chunks are counted, but a completion of the earlier version has changed something."""
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    for message in world.chunk_messages()[:4]:
        assert world.import_chunk(message)
    world.query("DELETE FROM import_codes WHERE chunk_no = :chunk", chunk=-1 if is_late else 3)
    if is_late:
        world.query("UPDATE imports SET chunks_left = 0")
        world.query("UPDATE import_rejections SET code = 'DUPLICATE_ID'")
    world.query("UPDATE imports SET status = :status", status=status)
    assert shown(pending.id) == {key: tuple(each) for key, each in add_up(world, pending.id).items()}
    assert [key[1] for key in shown(pending.id)] == ["DUPLICATE_ID" if is_late else "MISSING_ID"]


def test_a_difference_of_one_is_found(world: World) -> None:
    """Else the tests above could not fail."""
    import_id = world.run(SIX)
    assert list(list_miscounts(world)) == []
    for tampering in (
        "UPDATE import_codes SET errors = errors + 1 WHERE import_id = :i ORDER BY code LIMIT 1",
        "DELETE FROM import_codes WHERE import_id = :i AND code = 'MISSING_ID'",
        "UPDATE import_codes SET column_name = 'other' WHERE import_id = :i AND kind = 'warning'",
    ):
        before = len(list(list_miscounts(world)))
        world.query(tampering, i=import_id)
        assert len(list(list_miscounts(world))) > before, tampering


def test_only_the_tenant_reads_the_codes(world: World) -> None:
    import_id = world.run(SIX)
    with pytest.raises(NotFoundError):
        get_codes(STRANGER, import_id)


def test_the_sums_take_the_same_few_statements_for_any_number_of_chunks(world: World, chunk_rows: Chunks) -> None:
    counted = []
    for rows in (1, 100):
        chunk_rows(rows)
        pending = announce()
        assert start(put(pending, SIX))
        run_chunks(world)
        assert state(pending.id).chunks == (6 if rows == 1 else 1)
        counted.append(statements(world, lambda: get_codes(CALLER, pending.id)))  # noqa: B023 - called at once
    assert counted[0] == counted[1] <= 6
