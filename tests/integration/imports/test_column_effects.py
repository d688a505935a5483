"""An import and a check say which columns had no effect, and files of earlier versions are found unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.imports.columns.effects import EFFECTS
from core.load_file import options
from shell.imports.completing import column_warnings
from tests.integration.imports.conftest import Setting
from tests.support.application.driver import World
from tests.support.undo.runs import dump_documents, undo

WARNED = "SELECT code, column_name, message FROM import_warnings WHERE import_id = :id AND line_no = 0 ORDER BY seq"
FOUND = (
    "SELECT code, column_name, message FROM import_check_findings WHERE import_id = :id AND line_no = 0 ORDER BY seq"
)
DIFFERS = "SELECT COUNT(*) FROM import_warnings WHERE import_id = :id AND code = 'DIFFERS_FROM_CHECK'"
WITHOUT = {"date": "May 2001", "time": "noon", "list": "; ;"}


def kind_of(field: str) -> str:
    return "list" if field in ("custodians", "tags") else "time" if "time" in field else "date"


def file_without_effect(field: str) -> bytes:
    """Three chunks' rows, of which no cell of the last column has an effect; each has a date for its time."""
    rows = [f"{field}-{number},{WITHOUT[kind_of(field)]},5/21/2001" for number in range(5)]
    return "\n".join(["Control Number,Value,Day", *rows, ""]).encode()


@pytest.fixture(autouse=True)
def _small_chunks(setting: Setting) -> None:
    setting("CHUNK_ROWS", "2")


@pytest.mark.parametrize("field", EFFECTS)
def test_a_column_without_effect_is_told_by_the_import_and_by_its_check(world: World, field: str) -> None:
    columns = {"Value": field}
    if kind_of(field) == "time":
        columns["Day"] = field.replace("time", "date")
    checked = world.run(file_without_effect(field), shuffle=1, dry_run=True, columns=columns)
    imported = world.run(file_without_effect(field), shuffle=2, columns=columns)
    warnings = [tuple(row) for row in world.query(WARNED, id=imported) if row.code == "COLUMN_WITHOUT_EFFECT"]
    assert warnings == [tuple(row) for row in world.query(FOUND, id=checked) if row.code == "COLUMN_WITHOUT_EFFECT"]
    assert [(code, column) for code, column, _ in warnings] == [("COLUMN_WITHOUT_EFFECT", "Value")]
    assert "none of its 5 values has an effect" in warnings[0][2]
    assert all(f"in line {line}" in warnings[0][2] for line in (2, 3, 4))


MIXED = b"""Control Number,Date Sent,Custodian
A-1,N/A,Ann Lee|Bob Ray
A-2,9/9/9999,Cy Doe
A-3,5/21/01,Cy Doe
A-4,21/5/2001,
A-5,5/21/2001 3:00 PM EST,
"""


def test_a_separator_that_a_warning_told_of_reaches_documents_of_the_case_by_an_overlay(world: World) -> None:
    data = b"Control Number,Tags\r\nA-1,Hot|Key\r\n"
    tags = "SELECT name FROM tags JOIN taggings ON tag_id = tags.id ORDER BY name"
    [(_, _, advice)] = world.query(WARNED, id=world.run(data))
    assert "import the file again with the option and mode 'overlay'" in advice
    again = world.run(data, multi_value_separator="|")
    [(message,)] = world.query("SELECT message FROM import_rejections WHERE import_id = :id", id=again)
    assert message.endswith('without "Hot" in Tags, which the document does not have (any more).')
    world.run(data, multi_value_separator="|", mode="overlay")
    assert [name for (name,) in world.query(tags)] == ["Hot", "Hot|Key", "Key"]
    world.run(data, multi_value_separator="|", mode="overlay", multi_values="replace")
    assert [name for (name,) in world.query(tags)] == ["Hot", "Key"]


def test_a_check_and_the_import_after_it_warn_alike_and_a_second_completion_changes_nothing(world: World) -> None:
    import_id = world.run(MIXED, dry_run=True)
    found = [tuple(row) for row in world.query(FOUND, id=import_id)]
    assert [code for code, *_ in found] == [
        *("NO_DATE_STATED", "DATE_PLACEHOLDER", "TWO_DIGIT_YEAR", "OTHER_SEPARATOR", "MIXED_DATE_ORDER"),
    ]
    assert "day first in line 5; month first in line 4" in found[-1][2]
    imported = world.run(MIXED)
    assert sorted(found) == sorted(tuple(row) for row in world.query(WARNED, id=imported))
    assert world.query("SELECT warnings FROM imports WHERE id = :id", id=imported) == [(6,)]
    assert world.query(DIFFERS, id=imported) == [(0,)]


def test_nothing_is_said_that_a_missing_chunk_could_disprove(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_warnings, "CHUNKS_PER_PAGE", 2)
    import_id = world.start(file_without_effect("date_sent"), columns={"Value": "date_sent"})
    *messages, last = world.chunk_messages()
    assert all(world.import_chunk(message) for message in messages)
    world.query("DELETE FROM import_column_facts WHERE import_id = :id AND chunk_no = 1", id=import_id)
    assert world.import_chunk(last)
    assert [row.code for row in world.query(WARNED, id=import_id)] == []
    assert world.query("SELECT COUNT(*) FROM import_column_facts WHERE import_id = :id", id=import_id) == [(2,)]


NOTATIONS = (
    b"""Control Number,Date Sent,Time Sent,Custodian
A-1,5/21/01,,"Ann; Bob"
A-2,5/21/2001 3:00 PM EST,,"""
    b'''"""Lee; Ann"""
A-3,5/21/2001,3:00 PM EDT,
A-4,1/2/2003,,
'''
)


def test_a_file_of_an_earlier_version_is_unchanged_and_an_overlay_fills_its_dates(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(options, "DATE_RULES", 1)
        world.run(NOTATIONS)
    stored = "SELECT date_sent, date_precision FROM exhibits ORDER BY control_number"
    before, dump = [str(row[0]) for row in world.query(stored)], dump_documents(world)
    assert before == ["None", "None", "2001-05-21 00:00:00", "2003-01-02 00:00:00"]
    counts = "SELECT imported, unchanged, updated, rejected FROM imports WHERE id = :id"
    assert world.query(counts, id=world.run(NOTATIONS)) == [(0, 4, 0, 0)]
    assert dump_documents(world) == dump
    overlay = world.run(NOTATIONS, mode="overlay")
    assert world.query(counts, id=overlay) == [(0, 1, 3, 0)]
    assert [str(row[0]) for row in world.query(stored)] == [
        *("2001-05-21 00:00:00", "2001-05-21 20:00:00", "2001-05-21 19:00:00", "2003-01-02 00:00:00")
    ]
    undo(world, overlay)
    assert dump_documents(world) == dump


def test_stated_formats_and_separators_read_a_file_and_its_error_file(world: World) -> None:
    file = b"Control Number,Date Sent,Custodian,Tags\nA-1,37032,Ann|Bob,Hot/Later\n,37256.625,Cy|Di,Hot\n"
    given: dict[str, Any] = {
        "date_format": {"date_sent": "excel"},
        "multi_value_separator": "|",
        "nested_separator": "/",
    }
    import_id = world.run(file, **given)
    report = world.report(import_id)
    assert {name: json.loads(report["options.json"])[name] for name in given} == given
    assert b",excel," in report["columns.csv"]
    corrected = report["rejected_rows.dat"].replace(b"\r\n,", b"\r\nA-2,").replace(b"\n,372", b"\nA-2,372")
    world.run(corrected, **json.loads(report["options.json"]))
    dates = world.query("SELECT date_sent FROM exhibits ORDER BY control_number")
    assert [str(row[0]) for row in dates] == ["2001-05-21 00:00:00", "2001-12-31 15:00:00"]
    assert sorted(row[0] for row in world.query("SELECT name FROM custodians")) == ["Ann", "Bob", "Cy", "Di"]
    assert sorted(row[0] for row in world.query("SELECT name FROM tags")) == ["Hot", "Hot\\Later"]
