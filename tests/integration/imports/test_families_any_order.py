"""Parents are those of a dictionary reference, whatever files state, in whatever order chunks and imports come.

Files have documents without families and with each kind of statement, values that name nothing, several documents with
one Bates number, now or before, and few numbers, so that everything names everything. Overlays, edits and undos come
between them.
`FAMILY_SCRIPTS=500` sets the number of scripts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.contracts.exhibits import ExhibitChange
from shell.db.session import session
from shell.exhibits.commands import patch_exhibit
from shell.productions.family_members import find_all_members
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, committed
from tests.integration.imports.test_families import parents
from tests.support.application.driver import World, empty_queues
from tests.support.database.empty_tables import empty_tables
from tests.support.imports.family_reference import Doc, Said, find_family, find_parents
from tests.support.undo.runs import undo

NUMBERS = [f"R-{number}" for number in range(1, 8)]
# Bates numbers, a control number as one, and one that no document has.
KEYS = ["", "", "B-1", "B-2", "B-3", "R-1", "R-2", "R-3", "X-9"]
KINDS = {"Begin Attachment": "begin", "ATTACHRANGE": "range", "Group Identifier": "group", "Attachment IDs": "members"}
CELLS: dict[str, st.SearchStrategy[str]] = {
    "Begin Bates": st.sampled_from(["", "B-1", "B-2", "B-3", "R-1", "R-2"]),
    "Parent ID": st.sampled_from(["", "", "", "R-1", "R-5"]),
    "Begin Attachment": st.sampled_from(KEYS),
    "ATTACHRANGE": st.sampled_from([*KEYS, "B-1 - B-3", "R-1-R-3"]),
    "Group Identifier": st.sampled_from([*KEYS, "17", "18"]),
    "Attachment IDs": st.lists(st.sampled_from(KEYS), max_size=3).map("; ".join),
}
RANGES = {"B-1 - B-3": "B-1", "R-1-R-3": "R-1"}
OVERLAYS: list[dict[str, Any]] = [
    {},
    {"mode": "append_overlay"},
    {"mode": "overlay", "blanks": "clear"},
]
EXAMPLES = int(os.environ.get("FAMILY_SCRIPTS", settings().max_examples // 5))
_DOCUMENTS = """
    SELECT id, control_number, bates_begin, parent_control_number, import_id, line_no FROM exhibits ORDER BY id
"""
_WRITTEN = """
    SELECT id, line_no FROM exhibits WHERE import_id = :id UNION ALL
    SELECT exhibit_id, line_no FROM exhibit_changes WHERE import_id = :id AND undo_no IS NULL
"""
_KEPT = """
    SELECT DISTINCT k.exhibit_id FROM import_undo_kept AS k JOIN exhibits AS e ON e.id = k.exhibit_id
    WHERE k.import_id = :id AND (k.name IS NULL OR e.import_id = :id)
"""


@st.composite
def files(draw: st.DrawFn) -> tuple[list[str], list[dict[str, str]], dict[str, Any], int]:
    """The columns and rows of a file, what it does with documents that exist, and the order of its chunks."""
    columns = [name for name in CELLS if draw(st.booleans())]
    numbers = draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=5, unique=True))
    rows = [{"Control Number": each, **{name: draw(CELLS[name]) for name in columns}} for each in numbers]
    return columns, rows, draw(st.sampled_from(OVERLAYS)), draw(st.integers(0, 9))


steps = st.one_of(
    files(),
    files(),
    st.tuples(st.sampled_from(NUMBERS), st.sampled_from([None, None, "R-1", "R-4"])),
    st.integers(0, 5),
)


class Case:
    """A case and, beside it, everything that was stated."""

    def __init__(self, world: World) -> None:
        self.world, self.said, self.imports = world, list[Said](), list[int]()

    def documents(self) -> list[Doc]:
        """The documents as their own columns describe them."""
        claims = [tuple(row) for row in self.world.query("SELECT exhibit_id, bates_begin FROM production_numbers")]
        rows = self.world.query(_DOCUMENTS)
        return [Doc(*row)._replace(claims=tuple(n for exhibit_id, n in claims if exhibit_id == row[0])) for row in rows]

    def take(self, step: Any) -> None:
        """Import a file, edit a document or undo an import."""
        if isinstance(step, int):
            if step < len(self.imports):
                self._undo(self.imports[step])
        elif len(step) == 2:
            self._edit(*step)
        else:
            self._load(*step)

    def _load(
        self, columns: Sequence[str], rows: Sequence[dict[str, str]], options: dict[str, Any], shuffle: int
    ) -> None:
        header = ["Control Number", "Title", *columns]
        title = f"title {len(self.imports)}"
        lines = [",".join([row["Control Number"], title, *(row[name] for name in columns)]) for row in rows]
        import_id = self.world.run("\n".join([",".join(header), *lines, ""]).encode(), shuffle=shuffle, **options)
        self.imports.append(import_id)
        written = {line: exhibit for exhibit, line in self.world.query(_WRITTEN, id=import_id)}
        created = {each.id for each in self.documents() if each.import_id == import_id}
        for line, row in enumerate(rows, start=2):
            if line in written:
                place = (written[line], import_id, line)
                self._note(row, place, is_new=written[line] in created, clears=options.get("blanks") == "clear")

    def _note(self, row: dict[str, str], place: tuple[int, int, int], *, is_new: bool, clears: bool) -> None:
        doc, import_id, line = place
        if not is_new and (row.get("Parent ID") or (clears and "Parent ID" in row)):
            self.said.append(Said(doc, "parent", (), import_id, line))
        if row.get("Parent ID"):
            return
        for name, kind in KINDS.items():
            cell = row.get(name)
            if cell is not None:
                cell = RANGES.get(cell, cell)
                keys = tuple(key for key in dict.fromkeys(cell.split("; ")) if key)
                if keys or (clears and not is_new):
                    self.said.append(Said(doc, kind, keys, import_id, line))

    def _edit(self, number: str, parent: str | None) -> None:
        ids = [each.id for each in self.documents() if each.number == number]
        if ids:
            change = ExhibitChange.model_validate({"parentControlNumber": parent})
            committed(patch_exhibit, CALLER, ids[0], range(100), change)
            self.said.append(Said(ids[0], "parent", (), 0, 0))

    def _undo(self, import_id: int) -> None:
        undo(self.world, import_id)
        kept = {row[0] for row in self.world.query(_KEPT, id=import_id)}
        there = {each.id for each in self.documents()}
        self.said = [
            each for each in self.said if each.doc in there and (each.import_id != import_id or each.doc in kept)
        ]


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(script=st.lists(steps, min_size=1, max_size=6))
def test_parents_are_those_of_a_dictionary(world: World, chunk_rows: Chunks, script: list[Any]) -> None:
    chunk_rows(2)
    empty_tables(world.engine)
    empty_queues()
    case = Case(world)
    for step in script:
        case.take(step)
        docs = case.documents()
        if not docs:
            continue
        expected = find_parents(docs, case.said)
        assert parents() == expected, json.dumps([case.said, docs])
        [[case_id]] = world.query("SELECT id FROM cases")
        with session() as reading:
            for each in docs:
                found = find_all_members(reading, case_id, {each.id: each.number})
                assert {*found.parents} == find_family(each.number, expected)
    assert world.query("SELECT COUNT(*) FROM exhibit_changes WHERE action NOT IN ('edited', 'overlaid', 'undone')") == [
        (0,)
    ]
