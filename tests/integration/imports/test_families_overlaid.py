"""Families stay whole when overlays repeat what was stated, or give documents other Bates numbers."""

from __future__ import annotations

import pytest

from tests.integration.imports.import_requests import checked, finish
from tests.integration.imports.import_requests import run as run_checked
from tests.integration.imports.test_families import FAMILY, exhibit, parents, produced, warned
from tests.support.application.driver import World
from tests.support.undo.runs import undo


def test_an_overlay_that_repeats_a_group_leaves_it_whole(world: World) -> None:
    """Only its changed rows state something; each import that states the group can be undone."""
    header, *rows = ["Control Number,Family ID,Title", "R-1,17,a", "R-2,17,b", "R-3,17,c", "R-4,18,d"]
    world.run(b"Control Number\nR-1\nR-2\nR-3\nR-4\n")
    stating = world.run("\n".join([header, *rows, ""]).encode(), mode="overlay")
    corrected = world.run("\n".join([header, *rows, ""]).replace(",b", ",e").encode(), mode="overlay")
    assert parents() == FAMILY
    assert produced(world, "R-2")["INCOMPLETE_FAMILY"] == [exhibit(world, "R-2")]
    undo(world, corrected)
    assert parents() == FAMILY
    undo(world, stating)
    assert (parents(), world.query("SELECT COUNT(*) FROM family_statements")) == (dict.fromkeys(FAMILY), [(0,)])


@pytest.mark.parametrize("name", ["Begin Attachment", "ATTACHRANGE", "Group Identifier", "Attachment IDs"])
def test_families_in_bates_numbers_survive_other_numbers(world: World, name: str) -> None:
    """Of an overlay, in a check of a production, and for a later file that names the earlier numbers."""
    first, second = ("", "AC001") if name != "Attachment IDs" else ("AC002", "")
    rows = f"Control Number,Begin Bates,{name}\nR-1,AC001,{first}\nR-2,AC002,{second}\n"
    world.run(rows.encode())
    renumbered = world.run(b"Control Number,Begin Bates\nR-1,ZZ001\nR-2,ZZ002\n", mode="overlay")
    assert parents() == {"R-1": None, "R-2": "R-1"}
    assert produced(world, "R-1")["INCOMPLETE_FAMILY"] == [exhibit(world, "R-1")]
    later = world.run(b"Control Number,Begin Attachment\nR-3,AC001\n")
    assert (parents()["R-3"], warned(world, later)) == ("R-1", [])
    undo(world, renumbered)
    assert parents() == {"R-1": None, "R-2": "R-1", "R-3": "R-1"}


def test_a_second_number_of_the_file_is_known_to_check_and_import_alike(world: World) -> None:
    import_id = checked(world, b"Control Number,Begin Bates,PRODBEG,Begin Attachment\nR-1,B-1,P-1,\nR-2,B-2,P-2,P-1\n")
    run_checked(import_id, acknowledgeWarnings=True)
    finish(world)
    findings = "SELECT code FROM import_check_findings WHERE import_id = :id AND code = 'FAMILY_NOT_READ'"
    assert (warned(world, import_id), world.query(findings, id=import_id)) == ([], [])
    assert parents() == {"R-1": None, "R-2": "R-1"}
