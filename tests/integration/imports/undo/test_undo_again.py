"""An import that was undone before, in part or not at all, is undone again."""

from __future__ import annotations

from typing import Any

import handle_failed_import
from core.contracts.exhibits import ExhibitChange
from core.contracts.taggings import TaggingRequest
from shell.exhibits.commands import add_taggings, patch_exhibit
from shell.imports.undo.queries import get_undo
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import World, call, request_messages
from tests.support.undo.runs import begin_undo, dump_documents, end_undo, kept, request_undo, undo

BASE = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"
OVERLAY = b"Control Number,Title\r\nA-1,uno\r\nA-2,dos\r\n"


def test_what_was_restored_and_edited_then_is_no_conflict_when_the_import_is_undone_again(world: World) -> None:
    world.run(BASE)
    second = world.run(OVERLAY, mode="overlay")
    later = world.run(b"Control Number,Title\r\nA-2,due\r\n", mode="overlay")
    assert undo(world, second).status.value == "undone_with_conflicts"
    [(exhibit, version)] = world.query("SELECT id, version FROM exhibits WHERE control_number = 'A-1'")
    committed(patch_exhibit, CALLER, exhibit, {version}, ExhibitChange(title="edited after the undo"))
    undo(world, later)
    for is_dry in (True, False):
        assert undo(world, second, dry_run=is_dry).status.value == "undone"
        assert kept(second) == []
    titles = [row[0] for row in world.query("SELECT title FROM exhibits ORDER BY control_number")]
    assert titles == ["edited after the undo", "two"]


def test_a_link_that_stays_without_an_import_has_the_user_who_made_it(world: World) -> None:
    world.run(b"Control Number,Tags\r\nA-1,hot\r\n")
    [(exhibit,)] = world.query("SELECT id FROM exhibits")
    committed(add_taggings, CALLER, TaggingRequest.model_validate({"exhibitIds": [exhibit], "tags": ["mine"]}))
    before = dump_documents(world)
    replacing: dict[str, Any] = {"mode": "overlay", "multi_values": "replace"}
    imports = [world.run(f"Control Number,Tags\r\nA-1,{tags}\r\n".encode(), **replacing) for tags in ("x", "mine;hot")]
    for each in imports:
        undo(world, each)
    assert undo(world, imports[0]).status.value == "undone"
    assert dump_documents(world) == before


def test_an_undo_that_is_retried_after_a_dry_run_is_the_one_that_is_described(world: World) -> None:
    world.run(BASE)
    overlay = world.run(OVERLAY, mode="overlay")
    request_undo(overlay)
    (request,) = request_messages()
    assert call(handle_failed_import.lambda_handler, {**request, "redrive": 1})
    assert undo(world, overlay, dry_run=True).undo_no == 2
    messages = begin_undo(world, overlay)
    assert (get_undo(CALLER, overlay).undo_no, get_undo(CALLER, overlay).status.value) == (1, "running")
    assert all(map(world.import_chunk, messages))
    end_undo()
    for answer in (get_undo(CALLER, overlay), request_undo(overlay, dry_run=True)):
        assert (answer.undo_no, answer.dry_run, answer.status.value) == (1, False, "undone")
