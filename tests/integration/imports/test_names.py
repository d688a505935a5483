"""Custodians and tags: one spelling in any order, none that nothing carries, and no writer waits for a hot one."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from shell.db.bulk_insert import insert_missing
from shell.db.errors import LOCK_WAIT_TIMEOUT, error_number
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World
from tests.support.imports.row_outcomes import accounts

HEADER = "Control Number,Title,Custodian,Tags\r\n"
SPELLINGS = ("Müller, Zoë", "MÜLLER, ZOË", "muller, zoe")
LOCK_NOT_AVAILABLE = {1205, 3572}


def file_of(*rows: str) -> bytes:
    """A CSV file of rows."""
    return (HEADER + "".join(f"{row}\r\n" for row in rows)).encode()


THREE = file_of(*[f'A-{number},one,"{name}",{name[:3]}\\Hot' for number, name in enumerate(SPELLINGS)])


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 1, 0)], ids=str)
def test_the_lowest_line_gives_the_spelling_in_any_order(
    world: World, chunk_rows: Chunks, order: tuple[int, ...]
) -> None:
    chunk_rows(1)
    import_id = world.start(THREE)
    messages = world.chunk_messages()
    for number in order:
        assert world.import_chunk(messages[number])
    dump = world.dump(import_id)
    assert dump["custodians"] == [(b"M\xc3\xbcller, Zo\xc3\xab", 2)]
    assert dump["tags"] == [(b"M\xc3\xbcl\\Hot", 2)]
    assert {row[1] for row in dump["custodian_exhibits"]} == {b"M\xc3\xbcller, Zo\xc3\xab"}
    assert len(dump["custodian_exhibits"]) == len(dump["taggings"]) == 3
    merged = [(row[0], row[2], bytes(row[6]).decode()) for row in dump["warnings"]]
    assert {row[3] for row in dump["warnings"]} == {"NAME_MERGED"}
    assert sorted(merged) == sorted(
        [
            *[(line, "Custodian", SPELLINGS[line - 2]) for line in (3, 4)],
            *[(line, "Tags", f"{SPELLINGS[line - 2][:3]}\\Hot") for line in (3, 4)],
        ]
    )
    counts = accounts(world, import_id).counts
    assert (counts["custodians_created"], counts["tags_created"], counts["warnings"]) == (1, 1, 4)


def test_a_spelling_on_many_rows_is_reported_once_at_its_lowest_line(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    names = ["Ann", "ANN", "Ann", "ANN", "ann", "ANN"]
    import_id = world.run(file_of(*[f"A-{n},one,{name}," for n, name in enumerate(names)]), shuffle=2)
    warned = [(each.line, each.code) for each in accounts(world, import_id).warned]
    assert warned == [(3, "NAME_MERGED"), (6, "NAME_MERGED")]


def test_two_spellings_in_one_cell_are_one_link(world: World) -> None:
    import_id = world.run(file_of("A-1,one,Ann; ANN ;ann;Ann,hot;Hot"))
    counts = accounts(world, import_id).counts
    assert (counts["custodians_created"], counts["tags_created"], counts["warnings"]) == (1, 1, 3)
    assert len(world.dump(import_id)["custodian_exhibits"]) == 1


def test_a_name_that_the_case_had_keeps_its_spelling(world: World) -> None:
    first = world.run(file_of("A-1,one,Ann,Hot"))
    before = world.dump(first)
    import_id = world.run(file_of("B-1,one,ANN,HOT", "B-2,two,Ann,Hot"))
    after = world.dump(import_id)
    assert (after["custodians"], after["tags"]) == (before["custodians"], before["tags"])
    assert [(each.line, each.code) for each in accounts(world, import_id).warned] == [(2, "NAME_MERGED")] * 2
    assert accounts(world, import_id).counts["custodians_created"] == 0


def test_the_names_of_a_chunk_that_failed_do_not_survive_and_spell_nothing(world: World, chunk_rows: Chunks) -> None:
    """The chunk's names are added before its rows; then the rows never come."""
    chunk_rows(1)
    import_id = world.start(file_of("A-1,one,ANN;Lost,X", "A-2,two,Ann,X"))
    first, second = world.chunk_messages()
    case_id = world.query("SELECT case_id FROM imports")[0][0]
    # What its worker left behind when it ended between its two transactions.
    world.query(
        "INSERT INTO custodians (case_id, name, import_id, line_no) VALUES (:c, 'ANN', :i, 2), (:c, 'Lost', :i, 2)",
        c=case_id,
        i=import_id,
    )
    assert world.import_chunk(second)
    world.give_up(first)
    dump = world.dump(import_id)
    assert dump["custodians"] == [(b"Ann", 3)]
    assert dump["warnings"] == []
    assert accounts(world, import_id).counts["custodians_created"] == 1


def _hold_a_link_to_the_hot_names(world: World, other: Connection) -> None:
    """Another worker's chunk that has written a link to each hot name and has not committed."""
    case_id = world.query("SELECT case_id FROM imports LIMIT 1")[0][0]
    exhibit = "INSERT INTO exhibits (case_id, control_number, import_id, line_no) VALUES (:case_id, 'HELD', 0, 0)"
    other.execute(text(exhibit), {"case_id": case_id})
    for table, column, kind in (
        ("custodian_exhibits", "custodian_id", "custodians"),
        ("taggings", "tag_id", "tags"),
    ):
        other.execute(
            text(
                f"INSERT INTO {table} (exhibit_id, {column}, user_id) "
                f"SELECT e.id, n.id, 'u' FROM exhibits e, {kind} n WHERE e.control_number = 'HELD'"
            )
        )


HOT = [f"A-{number},title {number},Hot,Hot" for number in range(40)]


def assert_naive_ways_wait(world: World, kind: str) -> None:
    """Inserting the name again, or locking it, wants the row for itself, and so waits for every other chunk."""
    case_id = world.query("SELECT case_id FROM imports LIMIT 1")[0][0]
    columns = ("case_id", "name", "import_id", "line_no")
    with Session(world.engine) as adding:
        adding.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
        with pytest.raises(OperationalError) as inserting:
            insert_missing(adding, kind, columns, [(case_id, "Hot", 1, 2)], key=2)
    with pytest.raises(OperationalError) as locking:
        world.query(f"SELECT id FROM {kind} WHERE name = 'Hot' FOR UPDATE NOWAIT")
    assert error_number(inserting.value) == LOCK_WAIT_TIMEOUT
    assert error_number(locking.value) in LOCK_NOT_AVAILABLE


def test_a_chunk_does_not_wait_for_an_uncommitted_link_to_a_hot_name_and_naive_ways_do(
    world: World, chunk_rows: Chunks, other: Connection
) -> None:
    chunk_rows(20)
    import_id = world.start(file_of(*HOT))
    first, second = world.chunk_messages()
    assert world.import_chunk(first)
    _hold_a_link_to_the_hot_names(world, other)
    for kind in ("custodians", "tags"):
        assert_naive_ways_wait(world, kind)
    with world.engine.begin() as connection:
        # The pool gives the chunk this connection again: one wait, and it fails at once.
        connection.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
    assert world.import_chunk(second)
    assert world.query("SELECT status FROM imports WHERE id = :id", id=import_id) == [("completed",)]
    world.engine.dispose()


def test_signs_that_a_utf8mb3_column_lacks_in_a_column_name(world: World) -> None:
    """A header that means custodians all the same; its name is kept beside every spelling."""
    data = "Control Number,Custodian 🙂,Tags 🙂,Note 🙂\r\nA-1,Ann,Hot,text\r\nA-2,ANN,hot,text\r\n".encode()
    import_id = world.run(data)
    got = accounts(world, import_id)
    assert got.status == "completed"
    assert got.counts["custodians_created"] == got.counts["tags_created"] == 1
