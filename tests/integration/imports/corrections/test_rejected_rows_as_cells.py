"""Rejected rows are shown as the import read them, in pages of a limited size that take few reads of the file."""

from __future__ import annotations

import pytest

from core.imports.rejected_cells import MAX_CELL_BYTES, MAX_RAW_BYTES
from shell.aws.s3 import ObjectVersion
from shell.imports.corrections import rejected_rows
from tests.support.application.driver import World
from tests.support.imports.corrected_rows import CLIENT, correct, list_rows, set_cell

HEADER = b"Control Number,Title,Note\r\n"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all reads of files."""
    sizes: list[int] = []
    read = ObjectVersion.read

    def count(version: ObjectVersion, start: int, end: int) -> bytes:
        sizes.append(end - start)
        return read(version, start, end)

    monkeypatch.setattr(ObjectVersion, "read", count)
    return sizes


def test_each_kind_of_row(world: World) -> None:
    rows = [
        b"A-1,good,\r\n",
        b"A-2,M\xfcller,x\r\n",
        b"A-3,one,two,three\r\n",
        b'A-4,"open,x\r\n',
        b'A-5,"a\r\nb",x\r\n',
        b',"a\r\nb",x\r\n',
        b"A\x01-6,good,\r\n",
    ]
    import_id = world.run(HEADER + b"".join(rows), encoding="utf-8")
    page = CLIENT.get(f"/imports/{import_id}/rejected-rows").json
    assert [(each["number"], each["name"], each["field"]) for each in page["columns"]] == [
        (1, "Control Number", "control_number"),
        (2, "Title", "title"),
        (3, "Note", None),
    ]
    shown = {each["line"]: each for each in page["items"]}
    assert shown[3]["cells"] == ["A-2", "M\ufffdller", "x"]
    (error,) = shown[3]["errors"]
    assert (error["code"], error["columnNumber"], error["suggestion"]) == ("UNDECODABLE_BYTES", 2, "Müller")
    assert shown[4]["cells"] == ["A-3", "one", "two", "three"]
    assert (shown[5]["cells"], shown[5]["raw"]) == (None, 'A-4,"open,x\r\n')
    assert shown[8]["cells"] == ["", "a\r\nb", "x"]
    assert [error["suggestion"] for error in shown[10]["errors"]] == ["A-6"]
    assert 6 not in shown
    changes = {
        3: set_cell(1, "Müller"),
        4: lambda cells: cells[:3],
        8: set_cell(0, "A-7"),
        10: set_cell(0, "A-6"),
    }
    correct(world, import_id, changes)
    titles = dict(tuple(row) for row in world.query("SELECT control_number, title FROM exhibits"))
    assert titles == {
        "A-1": "good",
        "A-2": "Müller",
        "A-3": "one",
        "A-5": "a\r\nb",
        "A-6": "good",
        "A-7": "a\r\nb",
    }
    assert [row["line"] for row in list_rows(import_id, open="true")] == [5]


def test_long_rows_and_the_size_of_a_page(world: World, reads: list[int]) -> None:
    long = [b",%s,%d\r\n" % (b"x" * 300_000, number) for number in range(12)]
    huge = [b",%s,\r\n" % (b"y" * (MAX_CELL_BYTES + 1))]
    import_id = world.run(HEADER + b"".join([*long, *huge, b",short,\r\n"]))
    reads.clear()
    lines, after = [], ""
    while True:
        answer = CLIENT.get(f"/imports/{import_id}/rejected-rows?limit=500{after}")
        size = sum(len(cell) for item in answer.json["items"] for cell in item["cells"] or ())
        assert size <= rejected_rows.MAX_PAGE_BYTES
        lines += answer.json["items"]
        if answer.json["next"] is None:
            break
        after = f"&after={answer.json['next']}"
    assert [item["line"] for item in lines] == list(range(2, 16))
    assert all(len(item["raw"]) == MAX_RAW_BYTES and item["rawIsTruncated"] for item in lines[:13])
    assert [item["cells"] is None for item in lines] == [False] * 12 + [True, False]
    assert max(reads) <= 2_000_000


def test_few_reads_for_rows_that_are_near_and_a_shorter_page_for_rows_that_are_far(
    world: World, reads: list[int]
) -> None:
    near = b"".join(b",row %d,\r\nA-%d,good,\r\n" % (number, number) for number in range(200))
    import_id = world.run(HEADER + near)
    reads.clear()
    assert len(CLIENT.get(f"/imports/{import_id}/rejected-rows?limit=200").json["items"]) == 200
    assert len(reads) == 1
    far = b"".join(b",row %d,\r\nA-%d,%s,\r\n" % (number, number, b"z" * 300_000) for number in range(20))
    import_id = world.run(HEADER + far, case="Far")
    reads.clear()
    page = CLIENT.get(f"/imports/{import_id}/rejected-rows").json
    assert (len(page["items"]), len(reads)) == (rejected_rows.MAX_READS, rejected_rows.MAX_READS)
    assert len(list_rows(import_id)) == 20
