"""Texts in cells: stored whole in one object per chunk, served, overlaid, undone, and equal to what the file says."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from core.contracts.exhibit_queries import ExhibitQuery
from core.contracts.exhibits import ExhibitChange
from core.errors import InvalidInputError, NotFoundError, UnavailableError
from core.texts.packs import TEXT_PREFIX
from shell.aws import clients
from shell.exhibit_files.text_reading import PART_BYTES, read_text
from shell.exhibits.commands import patch_exhibit
from shell.exhibits.listing import list_exhibits
from shell.exhibits.queries import get_exhibit
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.write_or_check import finish_chunk
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, STRANGER, checked, committed, finish, prepare_chunk, run
from tests.support.application.driver import World, complete_imports
from tests.support.exhibits.history import find_gaps
from tests.support.undo.runs import dump_documents, undo

LONG = "a long text of a scanned document; " * 6_000
TEXTS = "SELECT e.control_number, t.* FROM exhibits AS e JOIN texts AS t ON t.id = e.text_id ORDER BY e.control_number"
OVERLAY: dict[str, Any] = {"mode": "overlay"}
HEADER = ("Control Number", "OCR1")
ORDERS = [*permutations(range(3))]


def make_file(*rows: Sequence[str], header: Sequence[str] = HEADER, encoding: str = "utf-8") -> bytes:
    """A Concordance file of these rows."""
    lines = ["\x14".join(f"\u00fe{cell}\u00fe" for cell in row) for row in (header, *rows)]
    return "\r\n".join([*lines, ""]).encode(encoding)


def stored_texts(world: World) -> dict[str, str]:
    """The text that each exhibit points to, read from its object; its hash and its range are as they are stored."""
    found = {}
    for row in world.query(TEXTS):
        place = {"Bucket": world.bucket, "Key": row.object_key, "VersionId": row.version_id}
        whole = clients.s3().get_object(**place)["Body"].read()
        data = whole[row.byte_start : row.byte_start + row.byte_len]
        assert hashlib.sha256(data).digest() == bytes(row.sha256)
        found[row.control_number] = data.decode()
    return found


def list_packs(world: World) -> list[str]:
    """The keys of all versions of all objects with texts."""
    listed = clients.s3().list_object_versions(Bucket=world.bucket, Prefix=f"{TEXT_PREFIX}/")
    return [each["Key"] for each in listed.get("Versions", [])]


def warned(world: World, import_id: int) -> list[tuple[int, str, str]]:
    """Line, column and code of the warnings of an import."""
    rows = "SELECT line_no, column_name, code FROM import_warnings WHERE import_id = :i ORDER BY line_no, seq"
    return [tuple(row) for row in world.query(rows, i=import_id)]


def prepared(import_id: int) -> ChunkInput:
    """The first chunk, as a worker has read it."""
    found = prepare_chunk(import_id, 1)
    assert isinstance(found, ChunkInput)
    return found


def exhibit_id(world: World, number: str = "A-1") -> int:
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_cells_of_any_length_are_joined_and_stored_whole(world: World, chunk_rows: Chunks, encoding: str) -> None:
    chunk_rows(2)
    numbered = [f"OCR{number}" for number in range(1, 13)]
    parts = [f"part {number}\u00aeM\u00fcller \u20ac{'' if number % 3 else LONG}" for number in range(1, 13)]
    rows = [["A-1", *parts], ["A-2", "short", *[""] * 11], ["A-3", *[""] * 11, "last"], ["A-4", *[" "] * 12]]
    import_id = world.run(make_file(*rows, header=["Control Number", *numbered], encoding=encoding))
    joined = "".join(parts).replace("\u00ae", "\n")
    assert stored_texts(world) == {"A-1": joined, "A-2": "short", "A-3": "last"}
    # One object for each chunk, and no warning: nothing is lost.
    assert len(list_packs(world)) == 2
    assert warned(world, import_id) == []
    properties = get_exhibit(CALLER, exhibit_id(world)).properties
    assert properties["OCR1"] == "part 1\nM\u00fcller \u20ac"
    assert not {"OCR3", "OCR6", "OCR9", "OCR12"} <= properties.keys()


def test_numbers_order_the_columns_and_other_names_their_place(world: World) -> None:
    names = ("Control Number", "OCR10", "OCR2", "OCR1")
    world.run(make_file(("A-1", "ten", "two", "one"), header=names))
    world.run(make_file(("A-2", "full", "more"), header=("Control Number", "Full Text", "OCR")))
    assert stored_texts(world) == {"A-1": "onetwoten", "A-2": "fullmore"}


def test_a_column_of_paths_is_no_text(world: World) -> None:
    header = ("Control Number", "Extracted Text")
    world.run(make_file(("A-1", r"REL\TEXT\0001.txt"), ("A-2", ""), header=header))
    import_id = world.run(make_file(("B-1", r"REL\TEXT\0001.txt"), ("B-2", "a text"), header=header))
    assert set(stored_texts(world)) == {"B-1", "B-2"}
    # The rows that come back are read as the whole file was.
    options = json.loads(world.report(import_id)["options.json"])
    assert options["columns"]["Extracted Text"] == "extracted_text"


def test_a_check_writes_no_text_and_the_import_after_it_agrees(world: World) -> None:
    data = make_file(("A-1", LONG), ("A-2", "short"))
    import_id = checked(world, data)
    assert (list_packs(world), world.query("SELECT COUNT(*) FROM texts")) == ([], [(0,)])
    run(import_id)
    finish(world)
    assert stored_texts(world) == {"A-1": LONG, "A-2": "short"}
    assert "DIFFERS_FROM_CHECK" not in {code for _, _, code in warned(world, import_id)}
    # The same of an overlay, of which the check says what would change.
    again = checked(world, make_file(("A-1", LONG), ("A-2", LONG)), options=OVERLAY)
    assert len(list_packs(world)) == 1
    run(again)
    finish(world)
    assert world.query("SELECT updated, unchanged FROM imports WHERE id = :i", i=again) == [(1, 1)]
    assert stored_texts(world) == {"A-1": LONG, "A-2": LONG}
    assert "DIFFERS_FROM_CHECK" not in {code for _, _, code in warned(world, again)}


def test_a_file_that_an_earlier_version_imported_is_unchanged(world: World) -> None:
    data = make_file(("A-1", LONG + "\u00ae"), ("A-2", "short"), ("A-3", ""))
    # As versions before did: the column is a property, and the row hash covers the whole cell.
    earlier = world.run(data, columns={"OCR1": "property"})
    assert warned(world, earlier) == [(2, "OCR1", "PROPERTY_DROPPED")]
    before = dump_documents(world)
    again = world.run(data)
    assert world.query("SELECT imported, unchanged, rejected FROM imports WHERE id = :i", i=again) == [(0, 3, 0)]
    assert (dump_documents(world), list_packs(world)) == (before, [])
    # An overlay of the same file adds the texts; an undo of it takes them away.
    overlay = world.run(data, **OVERLAY)
    assert stored_texts(world) == {"A-1": LONG + "\n", "A-2": "short"}
    assert world.query("SELECT updated, unchanged FROM imports WHERE id = :i", i=overlay) == [(2, 1)]
    assert world.query("SELECT COUNT(*) FROM exhibits WHERE row_hash IS NULL") == [(0,)]
    undo(world, overlay)
    assert (dump_documents(world), find_gaps(world)) == (before, [])


@pytest.mark.parametrize(
    "order", [ORDERS[0], ORDERS[-1], *(pytest.param(each, marks=pytest.mark.slow) for each in ORDERS[1:-1])]
)
def test_overlays_edits_and_undos_in_any_order(world: World, order: Sequence[int]) -> None:
    """After every undo, the texts are those of the imports that are left, as if the others had never been."""
    created = world.run(make_file(("A-1", LONG + "0"), ("A-2", "0"), ("A-3", "0")))
    texts = [("1" + LONG, "1", ""), ("2", LONG + "2", "2" + LONG), (LONG + "3", "", "3")]
    imports = []
    for number, row in enumerate(texts):
        cells = [(f"A-{index}", text) for index, text in enumerate(row, start=1)]
        imports.append(world.run(make_file(*cells), **OVERLAY))
        versions = {get_exhibit(CALLER, exhibit_id(world)).version}
        change = ExhibitChange.model_validate({"textPath": f"{number}.txt"})
        committed(patch_exhibit, CALLER, exhibit_id(world), versions, change)
    left = [(LONG + "0", "0", "0"), *texts]
    for undone in order:
        undo(world, imports[undone])
        left[undone + 1] = ("", "", "")
        expected = [next(row[column] for row in reversed(left) if row[column]) for column in range(3)]
        assert list(stored_texts(world).values()) == expected
        assert get_exhibit(CALLER, exhibit_id(world)).text_path == "2.txt"
        properties = [get_exhibit(CALLER, exhibit_id(world, f"A-{n}")).properties.get("OCR1") for n in (1, 2, 3)]
        assert properties == [None if len(text) > len(LONG) else text for text in expected]
    assert (find_gaps(world), undo(world, created).removed) == ([], 2)


def test_blanks_that_clear_remove_the_text(world: World) -> None:
    world.run(make_file(("A-1", LONG), ("A-2", "short")))
    before = dump_documents(world)
    cleared = world.run(make_file(("A-1", ""), ("A-2", " ")), **OVERLAY, blanks="clear")
    assert stored_texts(world) == {}
    undo(world, cleared)
    assert dump_documents(world) == before


def test_two_workers_and_a_lost_answer_make_one_object(world: World) -> None:
    import_id = world.start(make_file(("A-1", LONG), ("A-2", "short")))
    first, second, late = (prepared(import_id) for _ in range(3))
    # The answer of the first write is lost with its worker.
    first.store_texts()
    assert finish_chunk(second) == "done"
    assert finish_chunk(late) == "done"
    complete_imports()
    assert second.stored_pack == first.stored_pack == late.stored_pack
    assert len(list_packs(world)) == 1
    assert stored_texts(world) == {"A-1": LONG, "A-2": "short"}
    # The negative control: a write without the condition makes a second version.
    key = list_packs(world)[0]
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"")
    assert len(list_packs(world)) == 2


def test_an_object_of_other_bytes_under_the_key_is_refused(world: World) -> None:
    import_id = world.start(make_file(("A-1", LONG)))
    first, second = prepared(import_id), prepared(import_id)
    first.store_texts()
    clients.s3().put_object(Bucket=world.bucket, Key=list_packs(world)[0], Body=b"x" * len(LONG))
    with pytest.raises(UnavailableError, match="not the one that was written"):
        finish_chunk(second)
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]


def test_a_text_that_changes_after_the_chunk_was_read_has_it_read_again(world: World) -> None:
    data = make_file(("A-1", LONG), ("A-2", "old"))
    world.run(data)
    import_id = world.start(make_file(("A-1", LONG), ("A-2", "new")), **OVERLAY)
    [message] = world.chunk_messages()
    late = prepared(import_id)
    world.run(make_file(("A-1", "other")), **OVERLAY)
    with pytest.raises(UnavailableError, match="the chunk is read again"):
        finish_chunk(late)
    assert world.import_chunk(message)
    assert stored_texts(world) == {"A-1": LONG, "A-2": "new"}


def test_a_text_is_served_in_parts_and_to_its_tenant_alone(world: World) -> None:
    text = "\u20ac\U0001f600a" * (PART_BYTES // 8 * 2 + 7)
    world.run(make_file(("A-1", text), ("A-2", "neighbour"), ("A-3", "")))
    exhibit = exhibit_id(world)
    with_text = list_exhibits(CALLER, ExhibitQuery.model_validate({"case": "Case", "hasText": "true"})).items
    assert [each.control_number for each in with_text] == ["A-1", "A-2"]
    parts: list[str] = []
    start: int | None = 0
    while start is not None:
        part = read_text(CALLER, exhibit, start)
        assert len(part.text.encode()) <= PART_BYTES
        parts.append(part.text)
        start = part.next_start
    assert ("".join(parts), len(parts)) == (text, 3)
    assert part.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (part.byte_len, part.line) == (len(text.encode()), 2)
    for wrong in (1, len(text.encode()), 2**31):
        with pytest.raises(InvalidInputError, match="no character that begins"):
            read_text(CALLER, exhibit, wrong)
    for caller, number in ((STRANGER, "A-1"), (CALLER, "A-3")):
        with pytest.raises(NotFoundError):
            read_text(caller, exhibit_id(world, number), 0)
    assert [get_exhibit(CALLER, exhibit_id(world, f"A-{n}")).has_extracted_text for n in (1, 2, 3)] == [
        True,
        True,
        False,
    ]


def test_a_row_with_a_text_and_a_path_is_warned_of(world: World) -> None:
    header = ("Control Number", "OCR1", "Text Path")
    import_id = world.run(make_file(("A-1", LONG, "1.txt"), ("A-2", "", "2.txt"), ("A-3", "three", ""), header=header))
    assert warned(world, import_id) == [(2, "OCR1", "TEXT_AND_PATH")]
    # Also where the path is that of the document, and not of the row.
    data = make_file(("A-2", "two"), ("A-3", "drei"))
    findings = "SELECT code FROM import_check_findings WHERE import_id = :i"
    assert world.query(findings, i=checked(world, data, options=OVERLAY)) == [("TEXT_AND_PATH",)]
    overlay = world.run(data, **OVERLAY)
    assert warned(world, overlay) == [(2, "OCR1", "TEXT_AND_PATH")]


def test_a_longer_property_has_the_bytes_of_its_record_in_the_report(world: World) -> None:
    data = make_file(("A-1", "n", LONG), header=("Control Number", "OCR1", "Notes"))
    import_id = world.run(data)
    [row] = csv.DictReader(world.report(import_id)["warnings.csv"].decode("utf-8-sig").splitlines())
    assert (row["line"], row["column"], row["original"]) == ("2", "Notes", "")
    start, length = int(row["byte_start"]), int(row["byte_len"])
    assert LONG.encode() in data[start : start + length]


def test_a_record_of_more_than_16_mb_says_where_its_text_can_go(world: World) -> None:
    world.run(make_file(("A-1", "x" * 17_000_000), ("A-2", "short")))
    [(code, message)] = world.query("SELECT code, message FROM import_rejections")
    assert code == "RECORD_TOO_LARGE"
    assert message.endswith("A longer text can be a file of a volume, whose path the row has.")
    assert stored_texts(world) == {"A-2": "short"}
