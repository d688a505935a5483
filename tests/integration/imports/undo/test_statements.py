"""What the file of another import states, too, stays when an import is undone: values, tags and custodians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, event

from core.contracts.exhibits import ExhibitChange
from core.contracts.imports.undos import OtherImport
from core.exhibit_history import Entry
from core.imports import undo as rules
from shell.exhibits.commands import patch_exhibit
from shell.imports.undo import restoring
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import World
from tests.support.exhibits.history import find_gaps
from tests.support.undo.runs import counts, dump_documents, kept, undo

CREATING = b"Control Number,Title,Author,Pages,Tags\r\nA-1,one,Ann,3,\r\nA-2,two,Ann,3,\r\n"
FIRST = b"Control Number,Title,Tags\r\nA-1,new,hot\r\nA-2,new,hot\r\n"
# The title and tag that the first one wrote; another column changes, of the first document alone.
SECOND = b"Control Number,Title,Tags,Author\r\nA-1,new,hot,Bob\r\nA-2,new,hot,Ann\r\n"
DOCUMENTS = """
    SELECT e.title, JSON_VALUE(e.document_properties, '$.Author'), e.row_hash IS NOT NULL,
           (SELECT GROUP_CONCAT(LOWER(t.name) ORDER BY 1) FROM taggings AS l JOIN tags AS t ON t.id = l.tag_id
            WHERE l.exhibit_id = e.id)
    FROM exhibits AS e ORDER BY e.control_number
"""


def documents(world: World) -> list[tuple[Any, ...]]:
    """Title, author, whether there is a row hash, and tags of each document."""
    return [tuple(row) for row in world.query(DOCUMENTS)]


def overlay(world: World, data: bytes, **options: Any) -> int:
    return world.run(data, mode="overlay", **options)


def test_a_value_and_a_tag_that_a_later_file_states_stay_until_that_is_undone(world: World) -> None:
    """The row hash does not come back before all values are those of the creating row."""
    world.run(CREATING)
    before = dump_documents(world)
    first, second = overlay(world, FIRST), overlay(world, SECOND)
    expected = [("new", "Bob", False, "hot"), ("two", "Ann", True, None)]
    for dry_run in (True, False):
        found = undo(world, first, dry_run=dry_run)
        assert counts(found) == ("undone", 1, 0, 0, 0)
        assert found.stated_by == [OtherImport(import_id=second, documents=1)]
        # The row of the second document was wholly unchanged, and states nothing.
        assert [(each.import_id, each.documents) for each in found.found_unchanged_by] == [(second, 1)]
    assert documents(world) == expected
    assert kept(first) == []
    assert counts(undo(world, second)) == ("undone", 1, 0, 0, 0)
    assert dump_documents(world) == before
    assert find_gaps(world) == []


def without_statements(entries: Sequence[Entry], *rest: Any) -> rules.Restored:
    return rules.restore([replace(entry, stated=None) for entry in entries], *rest)


def test_without_statements_an_undo_takes_what_a_later_file_states(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    monkeypatch.setattr(restoring, "restore", without_statements)
    world.run(CREATING)
    first, _ = overlay(world, FIRST), overlay(world, SECOND)
    undo(world, first)
    assert documents(world)[0] == ("one", "Bob", False, None)


def test_a_value_that_a_user_set_after_a_statement_is_still_a_conflict(world: World) -> None:
    world.run(CREATING)
    first, _ = overlay(world, FIRST), overlay(world, SECOND)
    [(exhibit, version)] = world.query("SELECT id, version FROM exhibits WHERE control_number = 'A-1'")
    committed(patch_exhibit, CALLER, exhibit, {version}, ExhibitChange.model_validate({"title": "mine"}))
    assert counts(undo(world, first))[0] == "undone_with_conflicts"
    assert kept(first) == [(2, "A-1", "CHANGED_SINCE", "title")]
    assert documents(world)[0] == ("mine", "Bob", False, "hot")


def test_a_file_that_replaces_tags_states_that_there_are_no_others(world: World) -> None:
    """The first overlay takes the tag of the creating row away, the second one says that there is another tag only."""
    world.run(b"Control Number,Tags\r\nA-1,old\r\n")
    first = overlay(world, b"Control Number,Tags\r\nA-1,hot\r\n", multi_values="replace")
    second = overlay(world, b"Control Number,Tags\r\nA-1,cold\r\n", multi_values="replace")
    undo(world, first)
    assert documents(world)[0][-1] == "cold"
    assert undo(world, second).kept == 0
    assert documents(world)[0][-1] == "old"


@pytest.mark.parametrize("newest_first", [False, True])
def test_one_tag_in_two_spellings_goes_with_the_last_import_that_states_it(world: World, newest_first: bool) -> None:
    world.run(CREATING)
    before = dump_documents(world)
    first = overlay(world, b"Control Number,Tags\r\nA-1,Hot\r\n")
    second = overlay(world, b"Control Number,Tags,Title\r\nA-1,hOT,other\r\n")
    for left, each in enumerate((second, first) if newest_first else (first, second)):
        undo(world, each)
        assert documents(world)[0][-1] == (None if left else "hot")
    assert dump_documents(world) == before


def test_a_blank_cell_that_clears_states_that_there_is_no_value(world: World) -> None:
    """The property comes back in its place, so that the bytes are those of before."""
    world.run(CREATING)
    before = dump_documents(world)
    first = overlay(world, b"Control Number,Author,Extra\r\nA-1,,x\r\n", blanks="clear")
    second = overlay(world, b"Control Number,Author,Title\r\nA-1,,other\r\n", blanks="clear")
    undo(world, first)
    assert documents(world)[0][:2] == ("other", None)
    undo(world, second)
    assert dump_documents(world) == before


def test_imports_of_a_version_that_did_not_record_statements_are_named(world: World) -> None:
    """Its history has no `stated`, and its chunks no lists of what they found unchanged."""
    world.run(CREATING)
    first, second = overlay(world, FIRST), overlay(world, SECOND)
    world.query("UPDATE exhibit_changes SET stated = NULL")
    world.query("DELETE FROM import_unchanged")
    found = undo(world, first)
    assert found.unrecorded_by == [OtherImport(import_id=second, documents=1)]
    assert [tuple(each.model_dump().values()) for each in found.found_unchanged_by] == [(second, 1, True)]
    # As the version that wrote it would have undone it.
    assert documents(world)[0] == ("one", "Bob", False, None)


def test_history_is_inserted_and_read_alone(world: World) -> None:
    """The application's database user has no other right on it."""
    statements: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        if "exhibit_changes" in statement:
            statements.append(statement.split()[0])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        created = world.run(CREATING)
        for import_id in (overlay(world, FIRST), created):
            undo(world, import_id, dry_run=True)
            undo(world, import_id)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert set(statements) == {"INSERT", "SELECT"}


def test_the_history_of_a_removed_document_stays_and_is_not_that_of_a_new_one(world: World) -> None:
    for _ in range(2):
        created = world.run(CREATING)
        undo(world, overlay(world, FIRST))
        assert undo(world, created).removed == 2
    rows = world.query(
        "SELECT t.version, COUNT(c.version) + 1, MAX(c.version) FROM exhibit_tombstones AS t "
        "JOIN exhibit_changes AS c ON c.exhibit_id = t.exhibit_id GROUP BY t.exhibit_id, t.version"
    )
    assert [tuple(row) for row in rows] == [(3, 3, 3)] * 4
    world.run(CREATING)
    assert world.query("SELECT DISTINCT version FROM exhibits") == [(1,)]
    assert find_gaps(world) == []
