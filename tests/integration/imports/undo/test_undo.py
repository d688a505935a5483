"""An undo takes back what an import did, keeps what others did, and says so."""

from __future__ import annotations

from typing import Any

import pytest

from core.contracts.exhibits import ExhibitChange
from core.contracts.pages import ListQuery
from core.contracts.taggings import TaggingRequest
from core.errors import NotFoundError, WrongStateError
from shell.exhibits.commands import add_custodians, add_taggings, patch_exhibit, remove_taggings
from shell.imports.undo.queries import get_undo, list_kept
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, STRANGER, committed
from tests.support.application.driver import World
from tests.support.exhibits.history import find_gaps
from tests.support.undo.runs import counts, dump_documents, kept, request_undo, undo

HEADER = "Control Number,Title,Bates Begin,Custodian,Tags,Date Sent,Author,Parent\r\n"
FIRST = (
    HEADER + "A-1,one,N-1,Smith,hot,2001-01-31,Ann,\r\nA-2,two,N-2,Jones,,2001-02-01,,A-1\r\nA-3,three,N-3,,,,Eve,\r\n"
).encode()
SECOND = (
    b"Control Number,Title,Custodian,Tags,Date Sent,Author\r\n"
    b"A-1,uno,Brown,cold,2002-02-02,\r\nA-2,dos,,,,Bob\r\nA-3,three,,,,Eve\r\n"
)
OVERLAY: dict[str, Any] = {"mode": "overlay", "blanks": "clear", "multi_values": "replace"}


def exhibit_id(world: World, number: str) -> int:
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


def edit(world: World, number: str, **values: str | None) -> None:
    """A client's change of an exhibit."""
    found, version = world.query("SELECT id, version FROM exhibits WHERE control_number = :n", n=number)[0]
    committed(patch_exhibit, CALLER, found, {version}, ExhibitChange.model_validate(values))


def tagging(world: World, number: str, *tags: str) -> TaggingRequest:
    return TaggingRequest.model_validate({"exhibitIds": [exhibit_id(world, number)], "tags": list(tags)})


def numbers(world: World) -> list[str]:
    return [row[0] for row in world.query("SELECT control_number FROM exhibits ORDER BY 1")]


def test_undoing_an_append_leaves_nothing_but_tombstones(world: World, chunk_rows: Chunks) -> None:
    before = dump_documents(world)
    chunk_rows(2)
    import_id = world.run(FIRST)
    assert counts(undo(world, import_id)) == ("undone", 0, 3, 0, 0)
    assert dump_documents(world) == before
    columns = "control_number, version, import_id = :id, line_no, undo_no"
    stones = world.query(f"SELECT {columns} FROM exhibit_tombstones ORDER BY 1", id=import_id)
    assert [tuple(row) for row in stones] == [("A-1", 1, 1, 2, 1), ("A-2", 1, 1, 3, 1), ("A-3", 1, 1, 4, 1)]
    assert world.query("SELECT status, imported FROM imports") == [("undone", 3)]


def test_the_file_can_be_imported_again(world: World) -> None:
    undo(world, world.run(FIRST))
    again = world.run(FIRST)
    assert world.query("SELECT status, imported FROM imports WHERE id = :id", id=again) == [("completed", 3)]


def test_undoing_an_overlay_restores_every_value_and_link(world: World) -> None:
    world.run(FIRST)
    before = dump_documents(world)
    second = world.run(SECOND, **OVERLAY)
    assert dump_documents(world) != before
    undone = undo(world, second)
    assert dump_documents(world) == before
    assert counts(undone) == ("undone", 2, 0, 0, 3)
    assert find_gaps(world) == []
    history = world.query(
        "SELECT action, undo_no, import_id = :id FROM exhibit_changes ORDER BY exhibit_id, version", id=second
    )
    assert [tuple(row) for row in history] == [("overlaid", None, 1), ("undone", 1, 1)] * 2


def test_undoing_twice_does_nothing(world: World) -> None:
    world.run(FIRST)
    second = world.run(SECOND, **OVERLAY)
    first = undo(world, second)
    before = dump_documents(world), world.query("SELECT SUM(version) FROM exhibits")
    assert undo(world, second) == first
    assert (dump_documents(world), world.query("SELECT SUM(version) FROM exhibits")) == before


def test_a_dry_run_says_what_the_undo_does_and_changes_nothing(world: World) -> None:
    world.run(FIRST)
    second = world.run(FIRST + b"B-1,new,,,warm,,,\r\n" + SECOND.partition(b"\n")[2], mode="append_overlay")
    edit(world, "A-2", title="edited")
    before = dump_documents(world), world.query("SELECT SUM(version) FROM exhibits")
    expected = undo(world, second, dry_run=True)
    assert (dump_documents(world), world.query("SELECT SUM(version) FROM exhibits")) == before
    assert world.query("SELECT status FROM imports WHERE id = :id", id=second) != [("undone",)]
    assert expected.dry_run
    listed = kept(second)
    assert counts(undo(world, second)) == counts(expected)
    assert kept(second) == listed


def test_values_that_a_user_changed_since_stay(world: World) -> None:
    world.run(FIRST)
    second = world.run(SECOND, **OVERLAY)
    edit(world, "A-1", title="edited")
    committed(add_taggings, CALLER, tagging(world, "A-1", "cold"))
    assert counts(undo(world, second)) == ("undone_with_conflicts", 2, 0, 1, 3)
    assert sorted(kept(second)) == [
        (2, "A-1", "CHANGED_SINCE", "cold"),
        (2, "A-1", "CHANGED_SINCE", "title"),
    ]
    [row] = world.query("SELECT title, CAST(date_sent AS CHAR) FROM exhibits WHERE control_number = 'A-1'")
    assert row[0] == "edited"
    assert row[1].startswith("2001-01-31")
    tags = "SELECT t.name FROM taggings l JOIN tags t ON t.id = l.tag_id JOIN exhibits e ON e.id = l.exhibit_id"
    assert sorted(each[0] for each in world.query(f"{tags} WHERE control_number = 'A-1'")) == ["cold", "hot"]


def test_the_value_of_a_user_stays_even_if_it_is_that_of_the_import(world: World) -> None:
    """A -> B by the import, B -> A -> B by a user: an undo that compared values would take the user's B."""
    world.run(FIRST)
    second = world.run(b"Control Number,Title\r\nA-1,uno\r\n", mode="overlay")
    edit(world, "A-1", title="one")
    edit(world, "A-1", title="uno")
    undo(world, second)
    assert kept(second) == [(2, "A-1", "CHANGED_SINCE", "title")]
    assert world.query("SELECT title FROM exhibits WHERE control_number = 'A-1'") == [("uno",)]


def test_overlays_undone_oldest_first(world: World) -> None:
    world.run(FIRST)
    before = dump_documents(world)
    overlays = [world.run(f"Control Number,Title\r\nA-1,{title}\r\n".encode(), mode="overlay") for title in "xyz"]
    assert [undo(world, each).status.value for each in overlays] == ["undone_with_conflicts"] * 2 + ["undone"]
    assert dump_documents(world) == before


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("Date Sent,2001-01-31", "Date Sent,2002-02-02 10:00", "Date Sent,2003-03-03 11:00"),
        ("Date Sent,2001-01-31", "Date Sent,2002-02-02 10:00", "Date Sent,02 Feb 2002 10:00"),
        ("Date Sent,2001-01-31", "Document Date,2005-05-05", "Document Date,2006-06-06"),
        ("Bates End, N-1", "Bates End,N-2", "Bates End,N-3"),
    ],
    ids=["precision", "text", "source", "text of an id"],
)
def test_what_a_later_import_set_together_stays_together(world: World, first: str, second: str, third: str) -> None:
    """Of each of them, some of it is equal to what the import that is undone had set."""
    imports = []
    for mode, column in (("append", first), ("overlay", second), ("overlay", third)):
        name, value = column.split(",")
        imports.append(world.run(f"Control Number,{name}\r\nA-1,{value}\r\n".encode(), mode=mode))
    stored = dump_documents(world)
    undo(world, imports[1])
    assert dump_documents(world) == stored


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda world: edit(world, "A-1", title="edited"), "CHANGED_SINCE"),
        (lambda world: committed(add_taggings, CALLER, tagging(world, "A-1", "hot")), "TAGGED_SINCE"),
        (lambda world: committed(remove_taggings, CALLER, tagging(world, "A-1", "hot")), "CHANGED_SINCE"),
        (lambda world: committed(add_custodians, CALLER, exhibit_id(world, "A-1"), ["Smith"]), "CHANGED_SINCE"),
        (lambda world: world.run(b"Control Number,Title\r\nA-1,uno\r\n", mode="overlay"), "CHANGED_SINCE"),
        (lambda world: world.run(b"Control Number,Title,Parent\r\nB-1,new,A-1\r\n"), "HAS_CHILDREN"),
        (lambda world: edit(world, "A-2", title="edited"), "HAS_CHILDREN"),
        (lambda world: world.query("UPDATE exhibits SET version = 2 WHERE control_number = 'A-1'"), "CHANGED_SINCE"),
    ],
    ids=["edited", "tagged", "untagged", "custodian", "overlaid", "other's child", "own child", "unrecorded"],
)
def test_a_document_that_was_used_since_stays(world: World, change: Any, code: str, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    first = world.run(FIRST)
    change(world)
    undone = undo(world, first)
    assert (2, "A-1", code, None) in kept(first)
    assert undone.status.value == "undone_with_conflicts"
    assert "A-1" in numbers(world)
    assert "A-3" not in numbers(world)


def test_what_kept_a_document_can_go_and_the_import_be_undone_again(world: World) -> None:
    before = dump_documents(world)
    first = world.run(FIRST)
    second = world.run(SECOND, **OVERLAY)
    assert counts(undo(world, first))[:4] == ("undone_with_conflicts", 0, 1, 2)
    undo(world, second)
    assert counts(undo(world, first))[:4] == ("undone", 0, 2, 0)
    assert dump_documents(world) == before
    assert get_undo(CALLER, first).undo_no == 2


def test_a_child_that_was_there_before_does_not_keep_its_parent(world: World) -> None:
    world.run(b"Control Number,Parent\r\nC-1,P-1\r\nC-2,\r\n")
    world.run(b"Control Number,Parent\r\nC-2,P-1\r\n", mode="overlay")
    before = dump_documents(world)
    parents = world.run(b"Control Number,Title\r\nP-1,parent\r\nC-1,uno\r\n", mode="append_overlay")
    assert undo(world, parents).status.value == "undone"
    assert dump_documents(world) == before


def test_a_child_whose_parent_is_stated_again_does_not_keep_it(world: World) -> None:
    """A user had attached the first one, the creating row the second one."""
    world.run(b"Control Number,Parent\r\nC-1,\r\nC-2,P-1\r\n")
    edit(world, "C-1", parentControlNumber="P-1")
    undo(world, world.run(b"Control Number,Parent\r\nC-2,P-2\r\n", mode="overlay"))
    parents = world.run(b"Control Number\r\nP-1\r\n")
    world.run(b"Control Number,Parent,Title\r\nC-1,P-1,two\r\nC-2,P-1,two\r\n", mode="overlay")
    assert counts(undo(world, parents)) == ("undone", 0, 1, 0, 0)
    assert numbers(world) == ["C-1", "C-2"]


def test_a_parent_that_the_import_set_goes_with_it(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    world.run(b"Control Number,Parent\r\nC-1,\r\n")
    before = dump_documents(world)
    both = world.run(b"Control Number,Parent\r\nP-1,\r\nC-1,P-1\r\n", mode="append_overlay")
    assert undo(world, both).status.value == "undone"
    assert dump_documents(world) == before


def test_a_family_of_several_generations_stays_together(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    first = world.run(b"Control Number,Parent\r\nF-1,\r\nF-2,F-1\r\nF-3,F-2\r\nF-4,F-3\r\nG-1,G-2\r\nG-2,G-1\r\n")
    edit(world, "F-4", title="edited")
    undo(world, first)
    assert numbers(world) == ["F-1", "F-2", "F-3", "F-4"]


def test_names_that_the_import_created_go_and_those_of_others_stay(world: World) -> None:
    first = world.run(b"Control Number,Custodian,Tags\r\nA-1,Smith,hot\r\n")
    second = world.run(b"Control Number,Custodian,Tags\r\nB-1,Smith;Jones,cold;warm\r\n")
    committed(add_taggings, CALLER, tagging(world, "A-1", "warm"))
    undo(world, second)
    names = "SELECT name FROM custodians UNION ALL SELECT name FROM tags"
    assert sorted(row[0] for row in world.query(names)) == ["Smith", "hot", "warm"]
    assert counts(undo(world, first))[0] == "undone_with_conflicts"


def test_links_come_back_by_the_user_who_made_them(world: World) -> None:
    world.run(FIRST)
    committed(add_taggings, CALLER, tagging(world, "A-3", "mine"))
    before = dump_documents(world)
    removing = world.run(b"Control Number,Tags\r\nA-3,\r\nA-1,\r\n", **OVERLAY)
    assert undo(world, removing).links_restored == 2
    assert dump_documents(world) == before


def test_who_may_undo_what(world: World) -> None:
    first = world.run(FIRST)
    for import_id, caller in ((first + 1, CALLER), (first, STRANGER)):
        with pytest.raises(NotFoundError):
            request_undo(import_id, caller)
        with pytest.raises(NotFoundError):
            get_undo(caller, import_id)
        with pytest.raises(NotFoundError):
            list_kept(caller, import_id, ListQuery())
    running = world.start(SECOND, mode="overlay")
    with pytest.raises(WrongStateError, match=f"Import {running} of the same case is running"):
        request_undo(first)
    with pytest.raises(WrongStateError, match="The import has the status running; wait until it has ended"):
        request_undo(running)
    assert world.query("SELECT COUNT(*) FROM import_undos") == [(0,)]


def test_a_file_that_was_not_imported_has_nothing_to_undo(world: World) -> None:
    refused = world.start(b"no columns\r\nthat mean anything\r\n")
    assert request_undo(refused).status.value == "nothing_to_undo"


def test_a_change_without_history_keeps_the_values_of_an_overlaid_document(world: World) -> None:
    world.run(FIRST)
    second = world.run(b"Control Number,Title\r\nA-1,uno\r\n", mode="overlay")
    world.query("UPDATE exhibits SET title = 'unrecorded', version = version + 1 WHERE control_number = 'A-1'")
    assert counts(undo(world, second))[:4] == ("undone_with_conflicts", 0, 0, 1)
    assert world.query("SELECT title FROM exhibits WHERE control_number = 'A-1'") == [("unrecorded",)]
