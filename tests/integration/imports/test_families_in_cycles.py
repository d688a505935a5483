"""Rows that are each other's parents by what they state are reported, with their lines."""

from __future__ import annotations

import pytest

from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import checked, finish, run
from tests.integration.imports.test_families import parents, warned
from tests.support.application.driver import World


@pytest.mark.parametrize(
    ("data", "column", "message"),
    [
        ("ATTACHRANGE\nA,B - C\nB,A - C\nC,A - C\n", "ATTACHRANGE", "2 documents are, A (line 2) and B (line 3)."),
        ("Family ID\nC,C\nB,A\nA,B\n", "Family ID", "2 documents are, B (line 3) and A (line 4)."),
        (
            "Begin Bates,Begin Attachment,Family ID\nX,1,1,Y\nY,2,3,\nZ,3,,X\nV,4,5,\nW,5,,V\n",
            None,
            "5 documents are, X (line 2) and Y (line 3) and Z (line 4); V (line 5) and W (line 6).",
        ),
        ("Attachment IDs\nA,B\nB,C;A\n", "Attachment IDs", "2 documents are, A (line 2) and B (line 3)."),
        # No cycle: the first of a family names itself; a chain; a number that two documents have.
        ("ATTACHRANGE\nA,A - C\nB,A - C\nC,B - C\n", None, None),
        ("Begin Bates,Begin Attachment\nA,B,A\nB,C,B\nC,,B\n", None, None),
    ],
)
def test_rows_that_are_each_others_parents_are_reported_by_check_and_import_alike(
    world: World, chunk_rows: Chunks, data: str, column: str | None, message: str | None
) -> None:
    chunk_rows(1)
    import_id = checked(world, f"Control Number,{data}".encode())
    run(import_id, acknowledgeWarnings=True)
    finish(world)
    found = warned(world, import_id, "FAMILY_CONFLICT")
    query = "SELECT column_name, message FROM import_check_findings WHERE import_id = :id AND code = 'FAMILY_CONFLICT'"
    assert [tuple(row) for row in world.query(query, id=import_id)] == found
    assert world.query("SELECT COUNT(*) FROM import_warnings WHERE code = 'DIFFERS_FROM_CHECK'") == [(0,)]
    shown = [
        (title, f"{text[: text.index(',')]}, {text.split('such as ')[1].split(' Find')[0]}") for title, text in found
    ]
    assert shown == ([] if message is None else [(column or "Family ID", message)])
    circles = {each for each in parents() if is_own_ancestor(each)}
    assert len(circles) == (0 if message is None else int(message.split()[0]))


def is_own_ancestor(number: str) -> bool:
    """Whether the parents of a document, as the list of exhibits has them, lead back to it."""
    found, seen, at = parents(), set[str](), number
    while (above := found.get(at)) is not None and above not in seen:
        seen.add(at := above)
    return number in seen


def test_a_cycle_by_bates_numbers_that_only_the_case_has_is_found_by_check_and_overlay_alike(world: World) -> None:
    world.run(b"Control Number,Begin Bates\nX,1\nY,2\nZ,3\n")
    import_id = checked(world, b"Control Number,Begin Attachment\nX,2\nY,1\nZ,1\n", options={"mode": "overlay"})
    run(import_id, acknowledgeWarnings=True)
    finish(world)
    [(_, message)] = warned(world, import_id, "FAMILY_CONFLICT")
    assert "X (line 2) and Y (line 3)" in message
    query = "SELECT column_name, message FROM import_check_findings WHERE import_id = :id AND code = 'FAMILY_CONFLICT'"
    assert [tuple(row) for row in world.query(query, id=import_id)] == warned(world, import_id, "FAMILY_CONFLICT")
    assert world.query("SELECT COUNT(*) FROM import_warnings WHERE code = 'DIFFERS_FROM_CHECK'") == [(0,)]
