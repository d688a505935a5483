"""An undo names the imports whose rows found documents unchanged that it removes or changes, and how many."""

from __future__ import annotations

from core.contracts.imports.undos import Undo
from shell.imports.undo.queries import get_undo
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER
from tests.integration.imports.undo.test_undo import FIRST, SECOND, edit
from tests.support.application.driver import World, complete_imports
from tests.support.undo.runs import undo


def unchanged_by(found: Undo) -> dict[int, int]:
    """The documents that other imports found unchanged, by import; all of them counted exactly."""
    assert not any(each.at_most for each in found.found_unchanged_by)
    return {each.import_id: each.documents for each in found.found_unchanged_by}


def test_imports_of_other_cases_neither_refuse_an_undo_nor_are_listed(world: World) -> None:
    first = world.run(FIRST)
    again = world.run(FIRST)
    world.run(FIRST, case="Other")
    world.run(FIRST, case="Other")
    world.start(SECOND, case="Other", mode="overlay")
    world.chunk_messages()
    assert unchanged_by(undo(world, first)) == {again: 3}


def test_only_imports_that_counted_rows_between_the_import_and_its_undo_are_listed(world: World) -> None:
    other = b"Control Number,Title\r\nZ-1,other\r\n"
    for _ in range(2):
        world.run(other)
    early = world.start(FIRST)
    chunks = world.chunk_messages()
    first = world.run(FIRST)
    # Registered before the import, and worked on after it.
    for message in chunks:
        assert world.import_chunk(message)
    complete_imports()
    again = world.run(FIRST)
    assert unchanged_by(undo(world, first, dry_run=True)) == {early: 3, again: 3}
    after_the_dry_run = world.run(FIRST)
    assert unchanged_by(undo(world, first)) == {early: 3, again: 3, after_the_dry_run: 3}
    for _ in range(2):
        world.run(FIRST)
    assert unchanged_by(get_undo(CALLER, first)) == {early: 3, again: 3, after_the_dry_run: 3}


def test_only_documents_of_the_import_that_went_or_changed_are_counted_as_found_unchanged(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(2)
    """The attachment is edited, and stays with its parent."""
    other = b"Control Number,Title\r\nZ-1,other\r\n"
    world.run(other)
    first = world.run(FIRST)
    again, overlay = world.run(FIRST), world.run(FIRST, mode="overlay")
    world.run(other)
    edit(world, "A-2", title="edited")
    expected = {again: 1, overlay: 1}
    for dry_run in (True, False):
        found = undo(world, first, dry_run=dry_run)
        assert (unchanged_by(found), found.removed, found.kept) == (expected, 1, 2)
