"""Numbers of a prefix, however many ask at once: each is given out once, and each is in one row that says for what."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.productions.bates import BatesFormat
from shell.productions import reservation, steps
from shell.productions.bates_sequences import AllocatedNumbers, allocate_numbers, ensure_sequence
from shell.productions.selection import lock_selected_exhibits
from shell.utils.document_properties import serialize_properties
from tests.support.application.driver import World
from tests.support.database.counted_database import (
    PATIENCE_S,
    Database,
    barrier,
    done,
    outcome,
    replayed,
    together,
    transaction,
)
from tests.support.exhibits.stored_cases import Cases
from tests.support.productions.number_processes import Work, at_once
from tests.support.productions.runs import FORM, ask, put_file, take
from tests.support.productions.written_volumes import exhibit

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"
WORKERS, RANGES, MOST = 8, 1_000, 7
SPANS = "SELECT first_number, last_number, status FROM production_documents ORDER BY first_number"


def many_pages(cases: Cases) -> list[int]:
    """Exhibits of one to seven pages."""
    pages = [serialize_properties({"Pages": str(count)}) for count in range(1, MOST + 1)]
    return [cases.exhibit(f"D{place}", document_properties=said) for place, said in enumerate(pages)]


@pytest.mark.slow
def test_every_number_is_in_one_row_however_many_ask_at_once(counting: Cases, race_counts: int) -> None:
    exhibits, chosen = many_pages(counting), Random(1)
    sql = [[chosen.choice(exhibits)] for _ in range(RANGES // race_counts)]
    made = [ask(exhibitIds=ids, numbering="page", volume=f"VOL{n % 24}") for n, ids in enumerate(sql)]
    work = [Work(production, n % 3 == 0, n % 7 == 0) for n, production in enumerate(made)]
    before = counting.database.deadlocks()
    at_once(WORKERS, counting.case("Case"), FORM, work)
    assert counting.database.deadlocks() == before
    assert_every_number_is_in_one_row(counting.database.query(SPANS), len(made))


def assert_every_number_is_in_one_row(spans: Sequence[Any], rows: int) -> None:
    """From 1 to the highest, without gaps; a third of the rows is void."""
    assert len(spans) == rows
    numbers = [number for span in spans for number in range(span.first_number, span.last_number + 1)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert sum(span.status == "void" for span in spans) == -(-rows // 3)
    assert {span.status for span in spans} == {"void", "reserved"}


def test_a_prefix_that_many_begin_at_once_is_one_sequence(counting: Cases, race_counts: int) -> None:
    case_id, rounds, before = counting.case("Case"), 50 // race_counts, counting.database.deadlocks()
    with counting.database.environments(WORKERS) as engines:
        for number in range(rounds):
            form = BatesFormat(f"P{number}-", 5)
            found = race(engines, partial(_beginning, case_id, form))
            firsts = sorted(taken.numbers.first for taken in found)
            assert firsts == list(range(1, 3 * WORKERS, 3))
            assert len({taken.sequence_id for taken in found}) == 1
    deadlocks = counting.database.deadlocks() - before
    print(f"{rounds} prefixes begun by {WORKERS} at once: {deadlocks} deadlocks")
    assert deadlocks == 0
    assert counting.database.scalar("SELECT COUNT(*) FROM bates_sequences") == rounds


def _beginning(case_id: int, form: BatesFormat, on: Engine, met: threading.Barrier) -> AllocatedNumbers:
    met.wait()
    replayed(on, ensure_sequence, case_id, form, 3)
    return replayed(on, allocate_numbers, case_id, form, 3)


Twin = Callable[[Session, int, threading.Barrier], int]


def race(engines: Sequence[Engine], work: Callable[[Engine, threading.Barrier], Any]) -> list[Any]:
    """Everybody at once, each from an environment of its own; what each got, an error too."""
    meeting = barrier(len(engines))
    return together(*(outcome(partial(work, engine, meeting)) for engine in engines))


def highest_and_one(opened: Session, sequence: int, met: threading.Barrier) -> int:
    """The negative control that asks the rows."""
    sql = text("SELECT COALESCE(MAX(last_number), 0) + 1 FROM production_documents WHERE sequence_id = :s")
    first = int(opened.execute(sql, {"s": sequence}).scalar_one())
    met.wait()
    insert = text(
        "INSERT INTO production_documents (production_id, exhibit_id, destination_id, position, sequence_id, "
        "first_number, last_number, status, files) VALUES (:own, 1, :own, 0, :s, :first, :first + 2, 'reserved', '{}')"
    )
    opened.execute(insert, {"own": threading.get_ident(), "s": sequence, "first": first})
    return first


def read_and_write(opened: Session, sequence: int, met: threading.Barrier) -> int:
    """The negative control that reads the sequence without a lock, and writes it without a version."""
    sql = text("SELECT next_number FROM bates_sequences WHERE id = :s")
    first = int(opened.execute(sql, {"s": sequence}).scalar_one())
    met.wait()
    opened.execute(text("UPDATE bates_sequences SET next_number = :n WHERE id = :s"), {"n": first + 3, "s": sequence})
    return first


def committed(twin: Twin, sequence: int, on: Engine, met: threading.Barrier) -> int:
    with transaction(on) as opened:
        return twin(opened, sequence, met)


def test_reading_the_highest_number_gives_numbers_twice(counting: Cases) -> None:
    with counting.database.environments(WORKERS) as engines:
        found = race(engines, partial(committed, highest_and_one, 1))
    assert found.count(1) == 1
    assert sum(isinstance(error, IntegrityError) for error in found) == WORKERS - 1


def test_reading_the_sequence_without_its_lock_gives_numbers_twice(counting: Cases) -> None:
    case_id = counting.case("Case")
    done(ensure_sequence, case_id, FORM, 1)
    sequence = done(allocate_numbers, case_id, FORM, 1).sequence_id
    with counting.database.environments(WORKERS) as engines:
        assert race(engines, partial(committed, read_and_write, sequence)) == [2] * WORKERS
    assert take(case_id, 1) == (5, 5), "of 24 numbers that were given out, 21 are given out again"


def added_by_who_takes(opened: Session, case_id: int, bates_format: BatesFormat, count: int) -> AllocatedNumbers:
    """The negative control in which the prefix's first numbers add its sequence."""
    ensure_sequence(opened, case_id, bates_format, count)
    return allocate_numbers(opened, case_id, bates_format, count)


@pytest.mark.parametrize(("begin", "breaks"), [(allocate_numbers, False), (added_by_who_takes, True)])
def test_a_rollback_of_the_first_numbers_of_a_prefix_breaks_no_other(
    counting: Cases, begin: Callable[..., AllocatedNumbers], breaks: bool
) -> None:
    case_id, rounds, before = counting.case("Case"), 3, counting.database.deadlocks()
    with counting.database.environments(WORKERS) as engines:
        for form in (BatesFormat(f"P{number}-", 5) for number in range(rounds)):
            if not breaks:
                done(ensure_sequence, case_id, BatesFormat(form.prefix.lower(), 6), 3)
            three = partial(begin, case_id=case_id, bates_format=form, count=3)
            firsts = behind_a_rollback(counting.database, engines, three)
            assert firsts == list(range(1, 3 * len(engines) - 2, 3))
    deadlocks = counting.database.deadlocks() - before
    print(f"{rounds} times {WORKERS - 1} waited for who rolled back: {deadlocks} deadlocks")
    assert (deadlocks > 0) == breaks


def behind_a_rollback(
    database: Database, engines: Sequence[Engine], begin: Callable[[Session], AllocatedNumbers]
) -> list[int]:
    """The first numbers of those who waited for one that took numbers and rolls back."""
    first, *others = engines
    with Session(first) as opened, ThreadPoolExecutor(len(others)) as pool:
        begin(opened)
        waiting = [pool.submit(replayed, each, begin) for each in others]
        database.until_waiting(len(others))
        opened.rollback()
        return sorted(each.result(PATIENCE_S).numbers.first for each in waiting)


def test_numbers_that_a_restore_forgot_are_passed_over(counting: Cases) -> None:
    """With the statement of docs/operations.md, which never goes back."""
    case_id = counting.case("Case")
    take(case_id, 3)
    statement = re.findall(r"UPDATE bates_sequences [^`]+", OPERATIONS.read_text(encoding="utf-8"))[0]
    named = {"<last number handed over>": "40", "<tenant>": "tenant", "<case>": "Case", "<prefix>": FORM.prefix}
    for name, value in named.items():
        assert name in statement
        statement = statement.replace(name, value)
    for expected in (41, 42):
        counting.database.query(statement)
        assert take(case_id, 1) == (expected, expected)


def test_prefixes_and_cases_have_numbers_of_their_own(counting: Cases) -> None:
    one, other = counting.case("Case"), counting.case("Other")
    assert [take(one, 3), take(other, 2), take(one, 1)] == [(1, 3), (1, 2), (4, 4)]
    assert take(one, 1, form=BatesFormat("ACME-", 7)) == (1, 1)
    assert take(one, 1, start_at=500, form=BatesFormat("B", 3)) == (500, 500)
    assert take(one, 1, start_at=501, form=BatesFormat("B", 3)) == (501, 501), "where it goes on anyhow"


@pytest.mark.parametrize(
    ("change", "files", "order"),
    [("native_path = 'new.pdf'", '{"NATIVES": "new.pdf"}', "AB"), ("parent_control_number = 'B'", "{}", "BA")],
)
def test_a_document_that_changes_until_the_reservation_is_selected_again(
    world: World, monkeypatch: pytest.MonkeyPatch, change: str, files: str, order: str
) -> None:
    for number in "AB":
        exhibit(world, number)
    put_file(world, "new.pdf", "native")
    locking, tried = lock_selected_exhibits, list[bool]()

    def change_first(*given: Any) -> None:
        if not tried:
            world.query(f"UPDATE exhibits SET {change} WHERE control_number = 'A'")
        tried.append(True)
        locking(*given)

    monkeypatch.setattr(reservation, "lock_selected_exhibits", change_first)
    steps.reserve({steps.PRODUCTION: ask()})
    rows = world.query("SELECT control_number, files FROM production_documents ORDER BY position")
    assert ("".join(row[0] for row in rows), dict(rows)["A"], len(tried)) == (order, files, 2)
