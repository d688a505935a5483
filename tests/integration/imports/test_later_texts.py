"""A text that was a property in earlier versions goes round; documents of those versions keep it until an overlay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.exhibits import ExhibitChange
from core.contracts.pages import NewestFirst
from core.exhibit_fields import TEXT_FIELDS, TextField
from shell.exhibits.commands import patch_exhibit
from shell.exhibits.listing import list_exhibits
from shell.exhibits.queries import get_exhibit, list_changes
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import World
from tests.support.exhibits.history import find_gaps
from tests.support.productions.written_volumes import dat_of, written
from tests.support.undo.runs import counts, dump_documents, kept, undo

LATER = [text for text in TEXT_FIELDS if text.was_property]
VIEW = "SELECT {} FROM exhibit_list WHERE case_name = 'Case' ORDER BY control_number"
OVERLAY: dict[str, Any] = {"mode": "overlay"}


@pytest.fixture(params=LATER, ids=lambda text: text.name)
def text(request: pytest.FixtureRequest) -> TextField:
    """Each of these texts."""
    found: TextField = request.param
    return found


def make_file(text: TextField, *values: str) -> bytes:
    """A file of the documents A-1, A-2 and so on with these values."""
    rows = [f"A-{number},{value}" for number, value in enumerate(values, start=1)]
    return "\r\n".join([f"Control Number,{text.heading}", *rows, ""]).encode()


def stored(world: World, text: TextField) -> list[str | None]:
    """The values in the view, in the order of the documents."""
    return [row[0] for row in world.query(VIEW.format(text.name))]


def listed(text: TextField, value: str) -> list[str]:
    """The documents that a list has with the filter."""
    page = list_exhibits(CALLER, ExhibitQuery.model_validate({"case": "Case", text.name: value}))
    assert {getattr(item, text.name) for item in page.items} <= {value}
    return [item.control_number for item in page.items]


def find_ids(world: World) -> list[int]:
    """The ids of all documents."""
    return [row[0] for row in world.query("SELECT id FROM exhibits ORDER BY control_number")]


def import_as_before(world: World, text: TextField, *values: str) -> int:
    """Import the file as versions without the field did: the column is a property, and the row hash covers it so."""
    return world.run(make_file(text, *values), columns={str(text.heading): "property"})


def test_a_text_goes_round(world: World, text: TextField) -> None:
    created = world.run(make_file(text, "Confidential", "Attorneys' Eyes Only", "") + b",Secret\r\n")
    assert stored(world, text) == ["Confidential", "Attorneys' Eyes Only", None]
    assert listed(text, "Confidential") == ["A-1"]
    assert listed(text, "Secret") == listed(text, "Confident") == listed(text, "👍") == []
    # The row without an id comes back with its text, and is corrected.
    report = world.report(created)
    assert f",{text.heading},".encode() in report["columns.csv"]
    corrected = report["rejected_rows.dat"].replace(b"\r\n,Secret", b"\r\nA-4,Secret")
    reloaded = world.run(corrected, **json.loads(report["options.json"]))
    assert (stored(world, text)[-1], listed(text, "Secret")) == ("Secret", ["A-4"])
    undo(world, reloaded)
    # A request, an overlay after it, and its undo.
    first = find_ids(world)[0]
    alias = ExhibitChange.model_fields[text.name].alias or text.name
    committed(patch_exhibit, CALLER, first, {1}, ExhibitChange.model_validate({alias: "Public"}))
    before = dump_documents(world)
    overlay = world.run(make_file(text, "Secret", ""), **OVERLAY)
    assert stored(world, text) == ["Secret", "Attorneys' Eyes Only", None]
    changes = [entry.fields.get(text.name) for entry in list_changes(CALLER, first, NewestFirst()).items]
    assert changes == [{"old": "Public", "new": "Secret"}, {"old": "Confidential", "new": "Public"}, None]
    assert counts(undo(world, overlay))[:2] == ("undone", 1)
    assert dump_documents(world) == before
    assert find_gaps(world) == []
    # What is produced is read as the same text.
    production = written(prefix="ACME")
    assert [row[str(text.heading)] for row in dat_of(world, production)] == ["Public", "Attorneys' Eyes Only", ""]


def test_a_document_of_an_earlier_version_is_unchanged(world: World, text: TextField) -> None:
    import_as_before(world, text, "Confidential", "")
    before = dump_documents(world)
    again = world.run(make_file(text, "Confidential", "", "Secret"))
    assert world.query("SELECT imported, unchanged, rejected FROM imports WHERE id = :i", i=again) == [(1, 2, 0)]
    assert dump_documents(world)["exhibits"][:2] == before["exhibits"]
    assert stored(world, text) == [None, None, "Secret"]


def test_a_row_with_another_value_says_what_the_property_was(world: World, text: TextField) -> None:
    import_as_before(world, text, "Confidential", "")
    again = world.run(make_file(text, "Secret", ""))
    rejected = world.query("SELECT code, message FROM import_rejections WHERE import_id = :i", i=again)
    assert [row.code for row in rejected] == ["EXISTS_WITH_OTHER_VALUES"]
    said = f'with other values in {text.heading}. {text.heading}: "Secret" in this row, "Confidential" in the case.'
    assert rejected[0].message.endswith(said)


def test_an_overlay_puts_the_text_in_the_place_of_the_property(world: World, text: TextField) -> None:
    import_as_before(world, text, "Confidential", "Secret", "")
    before = dump_documents(world)
    overlay = world.run(make_file(text, "Confidential", ""), **OVERLAY)
    first, other = (get_exhibit(CALLER, each) for each in (find_ids(world)[0], find_ids(world)[1]))
    assert (getattr(first, text.name), first.properties) == ("Confidential", {})
    assert (getattr(other, text.name), other.properties) == (None, {text.heading: "Secret"})
    assert counts(undo(world, overlay))[:2] == ("undone", 1)
    assert dump_documents(world) == before
    cleared = world.run(make_file(text, "", ""), **OVERLAY, blanks="clear")
    assert [get_exhibit(CALLER, each).properties for each in find_ids(world)] == [{}, {}, {}]
    undo(world, cleared)
    assert (kept(cleared), dump_documents(world)) == ([], before)


def test_an_overlay_of_the_same_file_puts_all_texts_in_the_place_of_properties(world: World, text: TextField) -> None:
    values = ("Confidential", "Secret", "")
    import_as_before(world, text, *values)
    overlay = world.run(make_file(text, *values), **OVERLAY)
    assert world.query("SELECT updated, unchanged, rejected FROM imports WHERE id = :i", i=overlay) == [(2, 1, 0)]
    assert stored(world, text) == ["Confidential", "Secret", None]


def test_a_production_has_the_property_where_there_is_no_text(world: World, text: TextField) -> None:
    import_as_before(world, text, "Confidential")
    heading = str(text.heading)
    assert heading not in dat_of(world, written(prefix="A"))[0]
    assert [row[heading] for row in dat_of(world, written(prefix="B", properties=[heading]))] == ["Confidential"]
    world.run(b"Control Number,%b\r\nA-2,Secret\r\n" % heading.encode())
    for properties in ([], [heading]):
        rows = dat_of(world, written(prefix="C" + "D" * len(properties), properties=properties))
        assert [row[heading] for row in rows] == ["Confidential", "Secret"]
        assert list(rows[0]).count(heading) == 1
