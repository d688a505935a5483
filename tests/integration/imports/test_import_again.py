"""What the case holds already: the same again changes nothing, anything else comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.errors import UnavailableError
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec
from shell.db.session import session
from shell.imports.chunks.conflicts import find_origins
from shell.tables.imports import Imports
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World
from tests.support.database.dump import Dump
from tests.support.imports.accounting import assert_accounted, turned_down

SPEC = Spec(rows=24, seed=3, spice=0.4, faults=(Fault(FaultKind.EMOJI_TITLE, 4), Fault(FaultKind.NAME_CASE, 9)))
EXISTS = "EXISTS_WITH_OTHER_VALUES"
OF_THE_CASE = ("exhibits", "custodians", "tags", "custodian_exhibits", "taggings")


@pytest.fixture
def held(world: World, chunk_rows: Chunks) -> Generated:
    """A case that holds a file."""
    chunk_rows(5)
    made = generate(SPEC)
    assert_accounted(world, world.run(made.data), made.truth)
    return made


def of_the_case(dump: Dump) -> Dump:
    """What is the case's and not the import's."""
    return {name: dump[name] for name in OF_THE_CASE}


def last_dump(world: World) -> Dump:
    """The dump of the last import."""
    return world.dump(world.query("SELECT MAX(id) FROM imports")[0][0])


def test_the_same_file_again_is_unchanged_and_adds_nothing(world: World, held: Generated) -> None:
    before = last_dump(world)
    import_id = world.run(held.data, shuffle=1, times=2)
    assert_accounted(world, import_id, held.truth, unchanged=[r.first_line for r in held.truth.imported])
    assert of_the_case(world.dump(import_id)) == of_the_case(before)
    assert world.dump(import_id)["warnings"] == before["warnings"]


def test_another_file_with_the_same_ids_comes_back_whole(world: World, held: Generated) -> None:
    before = last_dump(world)
    made = generate(replace(SPEC, seed=4, custodians=9, faults=()))
    assert {r.control_number for r in made.truth.records} == {r.control_number for r in held.truth.records}
    import_id = world.run(made.data)
    lines = [record.first_line for record in made.truth.imported]
    assert_accounted(world, import_id, turned_down(made.truth, lines, EXISTS))
    assert of_the_case(world.dump(import_id)) == of_the_case(before)


def test_one_changed_cell_comes_back_and_a_new_row_is_imported(world: World, held: Generated) -> None:
    path = f"NATIVES\\{held.truth.records[2].control_number}".encode()
    last = held.truth.records[-1]
    changed = held.data.replace(path, path.lower().replace(b"exh", b"EXH"))
    new_bytes = held.data[last.byte_start :].replace(b"EXH0000024", b"EXH0000025")
    new = replace(
        last,
        index=last.index + 1,
        first_line=last.first_line + last.line_count,
        byte_start=last.byte_start + last.byte_len,
        control_number="EXH0000025",
    )
    import_id = world.run(changed + new_bytes)
    truth = replace(held.truth, records=(*held.truth.records, new))
    conflict = truth.records[2].first_line
    unchanged = {r.first_line for r in held.truth.imported} - {conflict}
    assert_accounted(world, import_id, turned_down(truth, [conflict], EXISTS), unchanged=unchanged)


def add_links_by_hand(world: World) -> None:
    """Have a reviewer link every exhibit to a custodian and a tag of the reviewer's own."""
    case_id = world.query("SELECT MAX(case_id) FROM imports")[0][0]
    for kind, links, column in (("custodians", "custodian_exhibits", "custodian_id"), ("tags", "taggings", "tag_id")):
        world.query(f"INSERT INTO {kind} (case_id, name) VALUES (:case_id, 'Added, By Hand')", case_id=case_id)
        world.query(
            f"INSERT INTO {links} (exhibit_id, {column}, user_id) SELECT e.id, n.id, 'reviewer' "
            f"FROM exhibits e, {kind} n WHERE n.name = 'Added, By Hand'"
        )


def test_removed_links_and_changes_by_hand_are_conflicts_and_added_links_are_not(world: World, held: Generated) -> None:
    add_links_by_hand(world)
    first, second, third = world.query(
        "SELECT e.id, e.control_number FROM exhibits e WHERE EXISTS (SELECT 1 FROM custodian_exhibits l "
        "WHERE l.exhibit_id = e.id) AND EXISTS (SELECT 1 FROM taggings t WHERE t.exhibit_id = e.id) "
        "ORDER BY e.id LIMIT 3"
    )
    world.query("DELETE FROM custodian_exhibits WHERE exhibit_id = :id AND user_id <> 'reviewer'", id=first.id)
    world.query("DELETE FROM taggings WHERE exhibit_id = :id AND user_id <> 'reviewer'", id=second.id)
    world.query("UPDATE exhibits SET title = 'Reviewed', row_hash = NULL WHERE id = :id", id=third.id)
    before = last_dump(world)
    import_id = world.run(held.data)
    controls = {row.control_number for row in (first, second, third)}
    conflicts = {r.first_line for r in held.truth.imported if r.control_number in controls}
    unchanged = {r.first_line for r in held.truth.imported} - conflicts
    assert_accounted(world, import_id, turned_down(held.truth, conflicts, EXISTS), unchanged=unchanged)
    assert of_the_case(world.dump(import_id)) == of_the_case(before)


def test_a_conflict_names_the_columns_that_differ_and_where_the_stored_values_came_from(world: World) -> None:
    header = "Control Number,Title,Doc Date,Custodian,Size"
    rows = ["A-1,one,1/31/2001,Smith,", "A-2,two,,Jones,", "A-3,three,,Brown,"]
    first = world.run("\n".join([header, *rows]).encode(), name="first.dat")
    world.query("DELETE l FROM custodian_exhibits l JOIN exhibits e ON e.id = exhibit_id WHERE control_number = 'A-2'")
    world.query("UPDATE exhibits SET title = 'drei', row_hash = NULL WHERE control_number = 'A-3'")
    second = world.run("\n".join([header, "A-1,ones,2/28/2001,Smith,9", *rows[1:]]).encode())
    found = world.query("SELECT column_name, message FROM import_rejections ORDER BY line_no")
    assert [column for column, _ in found] == [None, "Custodian", "Title"]
    messages = [message for _, message in found]
    source = "The case already holds this id, from line {} of first.dat (import " + f"{first})"
    assert [message.startswith(source.format(line)) for line, message in enumerate(messages, 2)] == [True] * 3
    title, date = '"ones" in this row, "one" in the case', '"2001-02-28 00:00:00" in this row, "2001-01-31'
    assert f"other values in Title, Doc Date, Size. Title: {title}; Doc Date: {date}" in messages[0]
    assert 'Size: "9" in this row, nothing in the case.' in messages[0]
    assert 'without "Jones" in Custodian, which the document does not have (any more).' in messages[1]
    assert 'edited since, with other values in Title. Title: "three" in this row, "drei" in the case.' in messages[2]
    assert b'""drei"" in the case' in world.report(second)["report.csv"]
    payloads = str(world.query("SELECT payload FROM outbox_events"))
    assert not [value for value in ("ones", "drei", "Jones") if value in payloads]


@pytest.mark.parametrize("other", [{"case_id": 0}, {"tenant_id": "beta"}])
def test_an_exhibit_of_another_case_or_tenant_is_not_looked_at(world: World, other: dict[str, Any]) -> None:
    import_id = world.run(b"Control Number,Title\nA-1,one\n")
    ids = [row.id for row in world.query("SELECT id FROM exhibits")]
    with session() as reading:
        mine = reading.get_one(Imports, import_id)
        assert find_origins(reading, mine, ids)[ids[0]].line_no == 2
        theirs = Imports(case_id=mine.case_id, tenant_id=mine.tenant_id)
        for name, value in other.items():
            setattr(theirs, name, value)
        with pytest.raises(UnavailableError):
            find_origins(reading, theirs, ids)


def test_the_same_rows_with_their_columns_in_another_order_are_unchanged(world: World) -> None:
    columns = ["Control Number", "Title", "Author", "Custodian", "Sent By", "Begin Bates"]
    cells = [["A-1", "one", "x", "Smith", "y", "B-1"], ["A-2", "two", "", "Jones", "z", "B-2"]]
    orders = ([0, 1, 2, 3, 4, 5], [4, 2, 5, 1, 3, 0])
    for order in orders:
        world.run("\r\n".join(",".join(row[place] for place in order) for row in (columns, *cells)).encode())
    counts = world.query("SELECT imported, unchanged, rejected FROM imports ORDER BY id")
    assert counts == [(2, 0, 0), (0, 2, 0)]
