"""What rows state about families: every kind is followed when it is read, by lists, productions, checks and undos."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, text

from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.exhibits import ExhibitChange
from shell.exhibits.commands import patch_exhibit
from shell.exhibits.listing import list_exhibits
from shell.exhibits.queries import get_exhibit
from shell.imports.completing.completion import complete_import
from shell.productions.steps import reserve
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, checked, committed, details, finish, until_waiting
from tests.integration.imports.import_requests import run as run_checked
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.database.server_status import statements
from tests.support.productions.runs import ask
from tests.support.undo.runs import dump_documents, kept, undo

ME = Client(CALLER.tenant_id, CALLER.user_id)
# An e-mail with two attachments, and a document alone, stated in each way.
FILES = {
    "begin": (
        "Control Number,Begin Bates,End Bates,Begin Attachment,End Attachment\n"
        "R-1,AC001,AC002,AC001,AC005\nR-2,AC003,AC004,AC001,AC005\nR-3,AC005,AC005,AC001,AC005\nR-4,AC006,AC006,,\n"
    ),
    "begin as id": (
        "Begin Bates,End Bates,Begin Attachment,End Attachment\n"
        "R-1,R-1,R-1,R-3\nR-2,R-2,R-1,R-3\nR-3,R-3,R-1,R-3\nR-4,R-4,R-4,R-4\n"
    ),
    "range": "Control Number,ATTACHRANGE\nR-1,R-1 - R-3\nR-2,R-1-R-3\nR-3,R-1 to R-3\nR-4,R-4\n",
    "first of a range": "Control Number,BEGATTRANGE,ENDATTRANGE\nR-1,R-1,R-3\nR-2,R-1,R-3\nR-3,R-1,R-3\nR-4,R-4,R-4\n",
    "group": "Control Number,Group Identifier\nR-1,R-1\nR-2,R-1\nR-3,R-1\nR-4,R-4\n",
    "group of its own": "Control Number,Family ID\nR-1,17\nR-2,17\nR-3,17\nR-4,18\n",
    "members": "Control Number,Attachment IDs\nR-1,R-2; R-3\nR-2,\nR-3,\nR-4,\n",
}
FAMILY = {"R-1": None, "R-2": "R-1", "R-3": "R-1", "R-4": None}


def parents() -> dict[str, str | None]:
    """The parents that the list of exhibits has, which are those of each exhibit."""
    items = list_exhibits(CALLER, ExhibitQuery(case="Case", limit=100)).items
    found = {each.control_number: each.parent_control_number for each in items}
    assert found == {each.control_number: get_exhibit(CALLER, each.id).parent_control_number for each in items}
    return found


def produced(world: World, *numbers: str) -> dict[str, list[int]]:
    """What the check of a production of these documents finds."""
    body = {"case": "Case", "volume": "VOL001", "prefix": "PROD", "digits": 7, "numbering": "document"}
    reply = ME.post("/productions/check", {**body, "exhibitIds": [exhibit(world, each) for each in numbers]})
    assert reply.status == 200, reply
    return {each["code"]: each["exhibitIds"] for each in reply.json["findings"]}


def exhibit(world: World, number: str) -> int:
    """The id of a document."""
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


def patch(world: World, number: str, **changes: Any) -> None:
    """Change a document as a user."""
    versions = range(1, 1000)
    committed(patch_exhibit, CALLER, exhibit(world, number), versions, ExhibitChange.model_validate(changes))


def warned(world: World, import_id: int, code: str = "FAMILY_NOT_READ") -> list[tuple[str | None, str]]:
    """The warnings of the whole file about families, by column."""
    query = "SELECT column_name, message FROM import_warnings WHERE import_id = :id AND code = :code"
    return [tuple(row) for row in world.query(query, id=import_id, code=code)]


@pytest.mark.parametrize("name", FILES)
def test_half_a_family_is_warned_of(world: World, name: str, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = world.run(FILES[name].encode(), shuffle=3)
    assert parents() == FAMILY
    assert warned(world, import_id) == []
    half = exhibit(world, "R-2")
    assert produced(world, "R-2")["INCOMPLETE_FAMILY"] == [half]
    assert produced(world, "R-1", "R-2")["INCOMPLETE_FAMILY"] == [exhibit(world, "R-1"), half]
    assert "INCOMPLETE_FAMILY" not in produced(world, "R-1", "R-2", "R-3")
    assert "INCOMPLETE_FAMILY" not in produced(world, "R-4")
    undo(world, import_id)
    assert world.query("SELECT * FROM family_statements") == []


def test_what_names_no_document_is_counted_by_check_and_import_alike(world: World, chunk_rows: Chunks) -> None:
    """And followed, once the document comes with another file: no attachment changes."""
    chunk_rows(1)
    data = (
        "Control Number,Begin Bates,Begin Attachment,ATTACHRANGE,Attachment IDs,Group Identifier\n"
        "R-2,B-2,B-1,,,\nR-3,B-3,B-1,,,\nR-5,B-5,,B-4 - B-5,,\nR-6,B-6,B-6,,R-5; R-7; R-8; R-9,G\nR-8,,,,,\n"
    )
    import_id = checked(world, data.encode())
    [check] = [details(import_id).check]
    assert check is not None
    run_checked(import_id, acknowledgeWarnings=True)
    finish(world)
    found = warned(world, import_id)
    assert [(column, message.split(" that name ")[0]) for column, message in found] == [
        ("Begin Attachment", "2 of the 3 values"),
        ("ATTACHRANGE", "1 of the 1 values"),
        ("Attachment IDs", "2 of the 4 values"),
    ]
    assert "such as B-1 (line 2). No parent" in found[0][1]
    assert "such as R-7 (line 5), R-9 (line 5). No parent" in found[2][1]
    query = "SELECT column_name, message FROM import_check_findings WHERE import_id = :id AND code = 'FAMILY_NOT_READ'"
    assert sorted(found) == sorted(tuple(row) for row in world.query(query, id=import_id))
    assert world.query("SELECT COUNT(*) FROM import_warnings WHERE code = 'DIFFERS_FROM_CHECK'") == [(0,)]
    assert [each.count for each in check.findings if each.code == "FAMILY_NOT_READ"] == [3]
    assert parents() == {"R-2": None, "R-3": None, "R-5": "R-6", "R-6": None, "R-8": "R-6"}
    world.run(b"Control Number,Begin Bates\nR-1,B-1\nR-4,B-4\n")
    followed = {"R-2": "R-1", "R-3": "R-1", "R-5": "R-4", "R-8": "R-6"}
    assert parents() == dict.fromkeys(("R-1", "R-4", "R-6")) | followed
    assert world.query("SELECT MAX(version), (SELECT COUNT(*) FROM exhibit_changes) FROM exhibits") == [(1, 0)]


def test_a_document_that_several_rows_list_is_reported_by_check_and_import_alike(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(1)
    data = b"Control Number,Attachment IDs\nR-9,\nR-5,R-9;R-8\nR-2,R-9\nR-3,R-9 | R-8\nR-8,\n"
    import_id = checked(world, data)
    run_checked(import_id, acknowledgeWarnings=True)
    finish(world)
    [(column, message)] = warned(world, import_id, "FAMILY_CONFLICT")
    assert column == "Attachment IDs"
    assert message.startswith(
        "2 documents are listed as attachments by several rows, such as R-8 (lines 3 and 5), R-9 (lines 3 and 5). The"
    )
    query = "SELECT column_name, message FROM import_check_findings WHERE import_id = :id AND code = 'FAMILY_CONFLICT'"
    assert [tuple(row) for row in world.query(query, id=import_id)] == [(column, message)]
    assert world.query("SELECT COUNT(*) FROM import_warnings WHERE code = 'DIFFERS_FROM_CHECK'") == [(0,)]
    assert parents() == {"R-2": None, "R-3": None, "R-5": None, "R-8": "R-5", "R-9": "R-5"}


def test_a_number_in_a_list_is_also_that_of_another_document(world: World) -> None:
    world.run(b"Control Number,Begin Bates,Attachment IDs\nR-1,,R-1\nR-7,R-1,\n")
    assert parents() == {"R-1": None, "R-7": "R-1"}


def test_an_import_that_is_completed_again_counts_again(world: World) -> None:
    """A retry replaces what the attempt before it found."""
    import_id = world.run(b"Control Number,Begin Attachment\nR-2,R-1\nR-3,R-1\n")
    [(column, message)] = warned(world, import_id)
    assert (column, message[:10]) == ("Begin Attachment", "2 of the 2")
    world.query("UPDATE imports SET status = 'running' WHERE id = :id", id=import_id)
    world.run(b"Control Number\nR-1\n")
    complete_import(import_id, 1)
    assert warned(world, import_id) == []


@pytest.mark.parametrize("name", [each for each in FILES if each not in ("begin as id", "members")])
def test_an_overlay_moves_an_attachment_and_its_undo_moves_it_back(world: World, name: str) -> None:
    world.run(FILES[name].encode())
    header, *rows = FILES[name].splitlines()
    cells = rows[1].split(",")
    place = {"begin": 3, "range": 1, "first of a range": 1, "group": 1, "group of its own": 1}[name]
    cells[place] = {"begin": "AC006", "group of its own": "18"}.get(name, "R-4")
    moved = f"{header}\n{','.join(cells)}\n{rows[3]}\n".encode()
    before = dump_documents(world)
    overlaid = world.run(moved, mode="overlay")
    # Of a group without a document of that number, the file's own comes first.
    expected = None if name == "group of its own" else "R-4"
    assert parents() == {**FAMILY, "R-2": expected}
    undo(world, overlaid)
    assert (parents(), dump_documents(world)) == (FAMILY, before)


def test_an_overlay_of_a_begin_that_was_the_parent_of_a_bates_number_moves_it(world: World) -> None:
    world.run(FILES["begin as id"].encode())
    overlaid = world.run(b"Begin Bates,Begin Attachment\nR-2,R-4\n", mode="overlay")
    assert parents() == {**FAMILY, "R-2": "R-4"}
    patch(world, "R-2", parentControlNumber="R-1")
    assert parents() == FAMILY
    undo(world, overlaid)
    assert parents() == FAMILY


@pytest.mark.parametrize("name", FILES)
def test_no_parent_is_kept_until_a_parent_is_stated(world: World, name: str) -> None:
    world.run(FILES[name].encode())
    patch(world, "R-2", parentControlNumber=None)
    assert parents() == {**FAMILY, "R-2": None}
    world.run(FILES[name].encode())
    assert parents() == {**FAMILY, "R-2": None}
    patch(world, "R-2", parentControlNumber="R-4")
    assert parents() == {**FAMILY, "R-2": "R-4"}


def test_no_parent_is_kept_when_the_parent_arrives(world: World) -> None:
    world.run(b"Control Number,Begin Attachment\nR-2,R-1\n")
    patch(world, "R-2", parentControlNumber=None)
    world.run(b"Control Number,Attachment IDs\nR-1,R-2\n")
    # The list was stated later.
    assert parents() == {"R-1": None, "R-2": "R-1"}
    patch(world, "R-2", parentControlNumber=None)
    assert parents() == {"R-1": None, "R-2": None}


@pytest.mark.parametrize("name", FILES)
def test_a_parent_stays_for_attachments_of_a_later_file(world: World, name: str) -> None:
    """Which stay when its own import is undone; those of an earlier file had no parent before, either."""
    if name == "members":
        pytest.skip("the list goes with the parent")
    if name == "group of its own":
        pytest.skip("the first of a group is of the same file")
    header, parent, *children = FILES[name].splitlines()
    first = world.run(f"{header}\n{parent}\n".encode())
    later = world.run("\n".join([header, *children, ""]).encode())
    assert parents() == FAMILY
    undo(world, first)
    assert kept(first) == [(2, "R-1", "HAS_CHILDREN", None)]
    assert parents() == FAMILY
    undo(world, later)
    undo(world, first)
    assert (parents(), world.query("SELECT COUNT(*) FROM family_statements")) == ({}, [(0,)])


def test_a_parent_that_came_later_goes_without_its_attachments(world: World) -> None:
    header, parent, *children = FILES["begin"].splitlines()
    world.run("\n".join([header, *children, ""]).encode())
    later = world.run(f"{header}\n{parent}\n".encode())
    assert parents() == FAMILY
    assert undo(world, later).removed == 1
    assert parents() == {"R-2": None, "R-3": None, "R-4": None}


def test_exhibits_of_earlier_versions_get_their_statements_when_the_file_comes_again(world: World) -> None:
    data = FILES["begin"].encode()
    world.run(data)
    world.query("DELETE FROM family_statements")
    world.query("UPDATE import_chunks SET reader = NULL")
    before = dump_documents(world)
    again = world.run(data)
    assert world.query("SELECT unchanged, rejected FROM imports WHERE id = :id", id=again) == [(4, 0)]
    assert (parents(), dump_documents(world)) == (FAMILY, before)
    stored = world.query("SELECT COUNT(*) FROM family_statements")
    third = world.run(data)
    assert world.query("SELECT COUNT(*) FROM family_statements") == stored
    undo(world, third)
    assert parents() == FAMILY


@pytest.mark.parametrize("protected", [True, False])
def test_an_attachment_that_comes_before_the_reservation_is_seen(
    world: World, other: Connection, protected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the second look, half a family gets numbers and nothing is said."""
    if not protected:
        monkeypatch.setattr("shell.productions.reservation.lock_families", lambda *_: None)
    world.run(b"Control Number\nR-1\n")
    production = ask(exhibitIds=[exhibit(world, "R-1")])
    other.execute(text("SELECT id FROM productions FOR UPDATE"))
    with ThreadPoolExecutor(1) as threads:
        reserving = threads.submit(reserve, {"production_id": production})
        until_waiting(world)
        world.run(b"Control Number,Group Identifier\nR-2,R-1\n")
        other.rollback()
        assert reserving.result()["documents"] == 1
    [[warnings]] = world.query("SELECT warnings FROM productions")
    assert ("INCOMPLETE_FAMILY" in (warnings or "")) == protected


def test_a_production_keeps_the_parents_of_its_reservation(world: World) -> None:
    world.run(FILES["group"].encode())
    reserve({"production_id": ask()})
    query = "SELECT control_number, parent_control_number FROM production_documents ORDER BY 1"
    assert world.query(query) == [("R-1", ""), ("R-2", "R-1"), ("R-3", "R-1"), ("R-4", "")]


def test_statements_of_a_chunk_do_not_grow_with_its_rows(world: World) -> None:
    def count(rows: int, prefix: str) -> int:
        lines = [f"{prefix}-{n},{prefix}-{n - n % 3},{prefix}-1;{prefix}-2" for n in range(rows)]
        world.start("\n".join(["Control Number,Begin Attachment,Attachment IDs", *lines, ""]).encode())
        [message] = world.chunk_messages()
        return statements(world, lambda: world.import_chunk(message))

    count(1, "W")
    assert count(3, "X") == count(300, "Y")
