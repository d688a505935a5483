"""Texts of cells are produced as text files: one file for each document, its own bytes and no others."""

from __future__ import annotations

import json

import pytest

from core.errors import InvalidInputError
from core.productions.readback import VolumeDiffersError
from shell.aws import clients
from shell.productions.packed_texts import PackedText, group_texts, read_window, write_text
from shell.productions.reconciliation import reconcile
from shell.productions.sources import SourceFile
from tests.support.application.driver import World
from tests.support.productions.runs import MANIFESTS, ask, execute, objects_of, put_file
from tests.support.productions.written_volumes import dat_of, written
from tests.support.undo.runs import undo

LONG = "a long text; " * 10_000
ROWS = ("Control Number,OCR1,OCR2,Text Path", f"A-1,{LONG},end,", "A-2,two,,", "A-3,three,,t/3.txt", "A-4,,,", "")
PRODUCED = {"A-1": f"{LONG}end".encode(), "A-2": b"two", "A-3": b"file of 3"}


@pytest.fixture(autouse=True)
def _base(world: World) -> None:
    """Two documents with texts in cells, one with a file beside it, and one without a text."""
    world.run("\r\n".join(ROWS).encode())
    put_file(world, "t/3.txt", "file of 3")


def drop_pack(world: World, body: bytes | None = None) -> None:
    """Remove the object of the texts; or have the rows name a version of it with other bytes."""
    [(key, version)] = world.query("SELECT DISTINCT object_key, version_id FROM texts")
    if body is None:
        clients.s3().delete_object(Bucket=world.bucket, Key=key, VersionId=version)
    else:
        put = clients.s3().put_object(Bucket=world.bucket, Key=key, Body=body)
        world.query("UPDATE texts SET version_id = :v", v=put["VersionId"])


def test_a_text_is_produced_like_a_text_file_of_a_volume(world: World) -> None:
    production = written()
    objects = objects_of(world, production)
    *records, without = dat_of(world, production)
    assert without["Text Link"] == ""
    for record, (number, data) in zip(records, PRODUCED.items(), strict=True):
        assert record["Text Link"] == rf"VOL001\TEXT\0001\{record['Begin Bates']}.txt", number
        assert objects.pop(record["Text Link"].replace("\\", "/")) == data
    assert {*objects} - MANIFESTS == {"VOL001/DATA/VOL001.dat"}
    reconcile(production)


def test_an_execution_confirms_them_and_an_overlay_later_changes_nothing(world: World) -> None:
    production = written(prefix="B")
    world.run(b"Control Number,OCR1\r\nA-2,other\r\n", mode="overlay")
    assert {PRODUCED["A-1"], PRODUCED["A-2"]} < set(objects_of(world, production).values())
    reconcile(production)
    stored = world.query("SELECT files FROM production_documents ORDER BY position")
    assert [sorted(json.loads(row.files)) for row in stored] == [["TEXT"], ["TEXT"], ["TEXT"], []]


def test_an_undo_leaves_what_was_produced(world: World) -> None:
    overlay = world.run(b"Control Number,OCR1\r\nA-2,other\r\n", mode="overlay")
    production = written(prefix="C")
    undo(world, overlay)
    assert b"other" in objects_of(world, production).values()
    reconcile(production)
    again = written(prefix="D", volume="VOL002")
    assert objects_of(world, again)["VOL002/TEXT/0001/D0000002.txt"] == b"two"


def test_the_comparison_finds_a_text_that_differs(world: World) -> None:
    """The negative control of the readback: without the texts' hashes it would confirm this volume."""
    production = written()
    world.query("UPDATE texts SET sha256 = REPEAT('x', 32) WHERE line_no = 3")
    with pytest.raises(VolumeDiffersError, match="another SHA-256 than its source"):
        reconcile(production)


@pytest.mark.parametrize(("body", "reason"), [(None, "2 not in the bucket"), (b"x" * 200_000, "2 with other content")])
def test_a_pack_that_is_gone_or_differs_fails_the_production(world: World, body: bytes | None, reason: str) -> None:
    drop_pack(world, body)
    with pytest.raises(InvalidInputError, match=reason):
        written()


def test_an_object_is_read_once_up_to_a_limit(world: World) -> None:
    places = [(key, 4_000_000 * number) for key in ("a", "b") for number in range(5)]
    sources = [SourceFile("text.txt", key, "v", 4_000_000, offset=offset) for key, offset in places]
    texts = [PackedText(source, f"{source.key}{source.offset}") for source in sources]
    windows = [[each.target for each in window] for window in group_texts(texts[::-1])]
    assert [len(window) for window in windows] == [4, 1, 4, 1]
    assert [each for window in windows for each in window] == [each.target for each in texts]
    assert list(group_texts([])) == []


def test_a_text_is_written_again_with_equal_bytes_alone(world: World) -> None:
    [row] = world.query("SELECT * FROM texts WHERE line_no = 3")
    source = SourceFile("t.txt", row.object_key, row.version_id, row.byte_len, sha256=row.sha256, offset=row.byte_start)
    text = PackedText(source, "productions/1/x.txt")
    read = read_window(world.bucket, [text])
    assert read == {text.target: b"two"}
    assert write_text(world.bucket, text, b"two") == write_text(world.bucket, text, b"two")
    assert write_text(world.bucket, text, b"too") == "Changed"
    clients.s3().put_object(Bucket=world.bucket, Key=text.target, Body=b"too")
    assert write_text(world.bucket, text, b"two") == "Changed"


def test_a_whole_execution_produces_them(world: World) -> None:
    production = ask()
    execute(production)
    assert world.query("SELECT status FROM productions WHERE id = :i", i=production) == [("confirmed",)]
