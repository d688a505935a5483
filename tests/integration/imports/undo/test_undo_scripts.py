"""Whatever imports did, in whatever modes: undone newest first, each undo leaves what was there before the import.

With edits between them every edit survives, and undone in any order the case holds what a replay without them holds.
`UNDO_SCRIPTS=500` sets the number of scripts.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.contracts.exhibits import ExhibitChange, TaggingRequest
from shell.exhibits.commands import add_custodians, add_taggings, patch_exhibit, remove_taggings
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.support import CALLER, committed
from tests.support.emptying import empty_tables
from tests.support.history import find_gaps
from tests.support.undo_scripts import Edit, Load, Replay, Step, Undo, loads, read_values, scripts
from tests.support.undoing import CaseDump, dump_documents, undo
from tests.support.world import World, empty_queues

SCRIPTS = int(os.environ.get("UNDO_SCRIPTS", settings().max_examples // 5))
pytestmark = pytest.mark.slow
drawn = settings(
    max_examples=SCRIPTS,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(autouse=True)
def _small_chunks(chunk_rows: Chunks) -> None:
    chunk_rows(2)


def begin(world: World) -> None:
    """An empty database."""
    empty_tables(world.engine)
    empty_queues()


@drawn
@given(script=st.lists(loads(), min_size=1, max_size=8))
def test_undone_newest_first(world: World, script: list[Load]) -> None:
    begin(world)
    done: list[tuple[int, CaseDump]] = []
    for load in script:
        before = dump_documents(world)
        done.append((world.run(load.data, **load.options), before))
    for import_id, before in reversed(done):
        assert undo(world, import_id).status.value in ("undone", "nothing_to_undo")
        assert dump_documents(world) == before
        assert find_gaps(world) == []


def do_edit(world: World, replay: Replay, edit: Edit) -> None:
    """Make a request, if its document exists, and have the replay do the same."""
    if edit.number not in replay.documents:
        return
    [(exhibit, version)] = world.query("SELECT id, version FROM exhibits WHERE control_number = :n", n=edit.number)
    tagging = TaggingRequest.model_validate({"exhibitIds": [exhibit], "tags": [edit.value]})
    if edit.kind == "title":
        change = ExhibitChange.model_validate({"title": edit.value})
        committed(patch_exhibit, CALLER, exhibit, {version}, change)
        replay.edit(edit.number, ("field", "title"), edit.value)
    elif edit.kind == "custodian":
        committed(add_custodians, CALLER, exhibit, [edit.value])
        replay.edit(edit.number, ("custodian", edit.value.lower()), True)
    elif edit.kind == "tag":
        committed(add_taggings, CALLER, tagging)
        replay.edit(edit.number, ("tag", edit.value), True)
    else:
        committed(remove_taggings, CALLER, tagging)
        replay.edit(edit.number, ("tag", edit.value), None, only_if_there=True)


def do_step(world: World, replay: Replay, imports: list[int], step: Step) -> None:
    """Do one step of a script, and have the replay do the same."""
    if isinstance(step, Load):
        imports.append(world.run(step.data, **step.options))
        replay.observe(imports[-1], read_values(world))
    elif isinstance(step, Edit):
        do_edit(world, replay, step)
    elif step.which < len(imports) and imports[step.which] not in replay.undone:
        undo(world, imports[step.which])
        replay.undo(imports[step.which])
    assert read_values(world) == replay.expect()
    assert find_gaps(world) == []


@drawn
@given(script=scripts(undos=True), order=st.randoms(use_true_random=False))
def test_undone_in_any_order_with_edits_between(world: World, script: list[Step], order: Any) -> None:
    begin(world)
    replay, imports = Replay(), list[int]()
    for step in script:
        do_step(world, replay, imports, step)
    rest = [Undo(which) for which in range(len(imports))]
    order.shuffle(rest)
    for each in rest:
        do_step(world, replay, imports, each)
