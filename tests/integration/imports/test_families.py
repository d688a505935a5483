"""What rows state about families: every kind is followed when it is read, by lists, productions, checks and undos."""

from __future__ import annotations

from typing import Any

import pytest

from core.contracts.exhibits import ExhibitChange
from core.contracts.queries import ExhibitQuery
from shell.exhibits.commands import patch_exhibit
from shell.exhibits.queries import get_exhibit, list_exhibits
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.undo.runs import kept, undo

ME = Client(CALLER.tenant_id, CALLER.user_id)
# An e-mail with two attachments, and a document alone, stated in each way.
FILES = {
    "begin": (
        "Control Number,Begin Bates,End Bates,Begin Attachment,End Attachment\n"
        "R-1,AC001,AC002,AC001,AC005\nR-2,AC003,AC004,AC001,AC005\nR-3,AC005,AC005,AC001,AC005\nR-4,AC006,AC006,,\n"
    ),
    "begin as id": (
        "Begin Bates,End Bates,Begin Attachment,End Attachment\n"
        "R-1,R-1,R-1,R-3\nR-2,R-2,R-1,R-3\nR-3,R-3,R-1,R-3\nR-4,R-4,R-4,R-4\n"
    ),
    "range": "Control Number,ATTACHRANGE\nR-1,R-1 - R-3\nR-2,R-1-R-3\nR-3,R-1 to R-3\nR-4,R-4\n",
    "first of a range": "Control Number,BEGATTRANGE,ENDATTRANGE\nR-1,R-1,R-3\nR-2,R-1,R-3\nR-3,R-1,R-3\nR-4,R-4,R-4\n",
    "group": "Control Number,Group Identifier\nR-1,R-1\nR-2,R-1\nR-3,R-1\nR-4,R-4\n",
    "group of its own": "Control Number,Family ID\nR-1,17\nR-2,17\nR-3,17\nR-4,18\n",
    "members": "Control Number,Attachment IDs\nR-1,R-2; R-3\nR-2,\nR-3,\nR-4,\n",
}
FAMILY = {"R-1": None, "R-2": "R-1", "R-3": "R-1", "R-4": None}


def parents() -> dict[str, str | None]:
    """The parents that the list of exhibits has, which are those of each exhibit."""
    items = list_exhibits(CALLER, ExhibitQuery(case="Case", limit=100)).items
    found = {each.control_number: each.parent_control_number for each in items}
    assert found == {each.control_number: get_exhibit(CALLER, each.id).parent_control_number for each in items}
    return found


def produced(world: World, *numbers: str) -> dict[str, list[int]]:
    """What the check of a production of these documents finds."""
    body = {"case": "Case", "volume": "VOL001", "prefix": "PROD", "digits": 7, "numbering": "document"}
    reply = ME.post("/productions/check", {**body, "exhibitIds": [exhibit(world, each) for each in numbers]})
    assert reply.status == 200, reply
    return {each["code"]: each["exhibitIds"] for each in reply.json["findings"]}


def exhibit(world: World, number: str) -> int:
    """The id of a document."""
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


def patch(world: World, number: str, **changes: Any) -> None:
    """Change a document as a user."""
    versions = range(1, 1000)
    committed(patch_exhibit, CALLER, exhibit(world, number), versions, ExhibitChange.model_validate(changes))


def warned(world: World, import_id: int) -> list[tuple[str | None, str]]:
    """The warnings of the whole file about families, by column."""
    query = "SELECT column_name, message FROM import_warnings WHERE import_id = :id AND code = 'FAMILY_NOT_READ'"
    return [tuple(row) for row in world.query(query, id=import_id)]


@pytest.mark.parametrize("name", FILES)
def test_half_a_family_is_warned_of(world: World, name: str, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = world.run(FILES[name].encode(), shuffle=3)
    assert parents() == FAMILY
    assert warned(world, import_id) == []
    half = exhibit(world, "R-2")
    assert produced(world, "R-2")["INCOMPLETE_FAMILY"] == [half]
    assert produced(world, "R-1", "R-2")["INCOMPLETE_FAMILY"] == [exhibit(world, "R-1"), half]
    assert "INCOMPLETE_FAMILY" not in produced(world, "R-1", "R-2", "R-3")
    assert "INCOMPLETE_FAMILY" not in produced(world, "R-4")
    undo(world, import_id)
    assert world.query("SELECT * FROM family_statements") == []
