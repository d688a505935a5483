"""Whatever imports did, in whatever modes: undone newest first, each undo leaves what was there before the import.

With edits between them every edit survives, and undone in any order the case holds what a replay of the other files
holds, which repeat values, tags and custodians all the time. `UNDO_SCRIPTS=500` sets the number of scripts.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.contracts.exhibits import ExhibitChange
from core.contracts.taggings import TaggingRequest
from shell.exhibits.commands import add_custodians, add_taggings, patch_exhibit, remove_taggings
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import World, empty_queues
from tests.support.database.empty_tables import empty_tables
from tests.support.exhibits.history import find_gaps
from tests.support.undo.runs import CaseDump, dump_documents, undo
from tests.support.undo.scripts import Edit, Replay, Step, Undo, loads, scripts
from tests.torture.models.fold import ROW_HASH, compare
from tests.torture.models.stored_documents import read_case
from tests.torture.plans.overlays import OverlayPlan

_CLAIMS = (
    "SELECT e.control_number, n.import_id, n.bates_begin FROM production_numbers AS n "
    "JOIN exhibits AS e ON e.id = n.exhibit_id"
)
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
def test_undone_newest_first(world: World, script: list[OverlayPlan]) -> None:
    """The same bytes, those of properties too."""
    begin(world)
    done: list[tuple[int, CaseDump]] = []
    for plan in script:
        before = dump_documents(world)
        done.append((world.run(plan.data, **plan.options), before))
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
    elif edit.kind == "custodian":
        committed(add_custodians, CALLER, exhibit, [edit.value])
    else:
        committed(add_taggings if edit.kind == "tag" else remove_taggings, CALLER, tagging)
    replay.edit(edit)


def do_step(world: World, replay: Replay, imports: list[int], step: Step) -> None:
    """Do one step of a script, and have the replay do the same."""
    is_undone = False
    if isinstance(step, OverlayPlan):
        imports.append(world.run(step.data, **step.options))
        rows = world.query("SELECT line_no FROM import_rejections WHERE import_id = :id", id=imports[-1])
        replay.load(imports[-1], step, {row[0] for row in rows})
    elif isinstance(step, Edit):
        do_edit(world, replay, step)
    elif step.which < len(imports) and imports[step.which] not in replay.undone:
        found, is_undone = undo(world, imports[step.which]), True
        expected = replay.undo(imports[step.which])
        assert {each.import_id: each.documents for each in found.found_unchanged_by} == expected
    judge(world, replay, is_undone=is_undone)
    assert find_gaps(world) == []


def judge(world: World, replay: Replay, *, is_undone: bool) -> None:
    """Compare every value and link; a row hash that is set says that the values are those of the creating row.

    Properties are in the one order that depends on nothing but their names, so that equal ones have equal bytes.
    """
    stored = {each.control_number: each for each in read_case("tenant", world, "Case").values()}
    expected = replay.expect()
    assert stored.keys() == expected.keys()
    for number, document in expected.items():
        values = dict(stored[number].values)
        row_hash = values.pop(ROW_HASH)
        assert compare(document, values) == {}, number
        assert row_hash is None or replay.has_first_values(number), number
        if is_undone and stored[number].entries and stored[number].entries[-1].undo_no:
            assert (row_hash is not None) is replay.has_first_values(number), number
    claims: dict[str, set[tuple[int, str]]] = {number: set() for number in expected}
    for number, import_id, begins in world.query(_CLAIMS):
        claims[number].add((import_id, begins))
    assert claims == {number: replay.documents[number].claims for number in expected}
    for number, properties in world.query("SELECT control_number, document_properties FROM exhibits"):
        names = list(json.loads(properties or "{}"))
        assert names == replay.documents[number].order_names(names)


@drawn
@given(script=scripts(), order=st.randoms(use_true_random=False))
def test_undone_in_any_order_with_edits_between(world: World, script: list[Step], order: Any) -> None:
    begin(world)
    replay, imports = Replay(), list[int]()
    for step in script:
        do_step(world, replay, imports, step)
    rest = [Undo(which) for which in range(len(imports))]
    order.shuffle(rest)
    for each in rest:
        do_step(world, replay, imports, each)
