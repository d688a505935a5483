"""Families stay whole when overlays repeat what was stated, or give documents other Bates numbers."""

from __future__ import annotations

from tests.integration.imports.test_families import FAMILY, exhibit, parents, produced
from tests.support.application.driver import World
from tests.support.undo.runs import undo


def test_an_overlay_that_repeats_a_group_leaves_it_whole(world: World) -> None:
    """Only its changed rows state something; each import that states the group can be undone."""
    header, *rows = ["Control Number,Family ID,Title", "R-1,17,a", "R-2,17,b", "R-3,17,c", "R-4,18,d"]
    first = world.run(b"Control Number\nR-1\nR-2\nR-3\nR-4\n")
    stating = world.run("\n".join([header, *rows, ""]).encode(), mode="overlay")
    corrected = world.run("\n".join([header, *rows, ""]).replace(",b", ",e").encode(), mode="overlay")
    assert parents() == FAMILY
    assert produced(world, "R-2")["INCOMPLETE_FAMILY"] == [exhibit(world, "R-2")]
    undo(world, corrected)
    assert parents() == FAMILY
    moved = world.run(f"{header}\nR-2,18,b\n".encode(), mode="overlay")
    assert parents() == {**FAMILY, "R-2": None}
    undo(world, moved)
    undo(world, stating)
    assert (parents(), world.query("SELECT COUNT(*) FROM family_statements")) == (dict.fromkeys(FAMILY), [(0,)])
    undo(world, first)
