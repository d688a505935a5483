"""Importing a file again: chunks that are verified leave what chunks that are parsed leave, whatever came between."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import import_chunk
from core.imports.id_lists import decode_ids
from shell.aws import clients
from shell.db.column_limits import column_limits
from shell.imports.chunks import row_reader
from shell.imports.chunks.chunk_source import LoadedChunk
from shell.imports.rows import reader_identity
from shell.imports.twins.twin import find_twin
from shell.tables.base import Base
from shell.work.messages import ChunkMessage
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World, call

HEADER = b"Control Number,Title,Doc Date,Custodian,Tags,Parent ID,Color\r\n"
ROWS = [
    f"A-{n},title {n},1/{n}/2001,Smith; {'Jones' if n % 2 else 'Brown'},Hot,,blue\r\n".encode() for n in range(1, 9)
]
DATA = HEADER + b"".join(ROWS)
UNLIKE = {"import_id", "case_id", "exhibit_id", "first_id", "last_id", "id", "first_exhibit", "last_exhibit"}
_NUMBER = re.compile(r"import \d+")
Change = Callable[[World, int], None]


class Reads:
    """How many chunks were parsed; with `off`, no chunk has a twin."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count, self._read, self._find = 0, row_reader.read_rows, find_twin
        self.off = False
        patch.setattr(row_reader, "read_rows", self._count)
        patch.setattr("import_chunk.find_twin", lambda loaded: None if self.off else self._find(loaded))

    def _count(self, loaded: LoadedChunk) -> Any:
        self.count += 1
        return self._read(loaded)


@pytest.fixture
def reads(chunk_rows: Chunks, monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Chunks of two rows."""
    chunk_rows(2)
    return Reads(monkeypatch)


def left_by(world: World, import_id: int) -> dict[str, list[str]]:
    """All rows that the import has in any table, without what differs between two imports of the same."""
    lines = {row.id: row.line_no for row in world.query("SELECT id, line_no FROM exhibits")}
    found = {}
    for name, table in Base.metadata.tables.items():
        if "import_id" in table.columns:
            rows = world.query(f"SELECT * FROM {name} WHERE import_id = :i", i=import_id)
            found[name] = sorted(_NUMBER.sub("", repr(_comparable(row._mapping, lines))) for row in rows)
    totals = world.query(
        "SELECT status, imported, unchanged, rejected, warnings FROM imports WHERE id = :i", i=import_id
    )
    events = world.query("SELECT event_type FROM outbox_events WHERE aggregate_id = :i", i=str(import_id))
    return found | {"imports": [repr(totals[0])], "events": sorted(each[0] for each in events)}


def _comparable(row: Any, lines: dict[int, int]) -> dict[str, Any]:
    values = {column: value for column, value in row.items() if column not in UNLIKE and not column.endswith("_at")}
    if "exhibit_ids" in values:
        values["exhibit_ids"] = [lines[each] for each in decode_ids(values["exhibit_ids"])]
    return values


def nothing(world: World, import_id: int) -> None:
    """Between the two imports."""


def change_third(world: World, import_id: int, statement: str) -> None:
    """Carry out a statement about the document of the third row, whose number is `:id`."""
    found = "SELECT id FROM exhibits WHERE control_number = 'A-3' AND import_id = :i"
    world.query(statement, id=world.query(found, i=import_id)[0][0])


def tag_added(world: World, import_id: int) -> None:
    """By a reviewer: every writer of links raises the version."""
    change_third(world, import_id, "UPDATE exhibits SET version = 2 WHERE id = :id")


def value_changed(world: World, import_id: int) -> None:
    """By a reviewer."""
    change_third(world, import_id, "UPDATE exhibits SET version = 2, title = 'new', row_hash = NULL WHERE id = :id")


def document_removed(world: World, import_id: int) -> None:
    """With its links."""
    for table in ("custodian_exhibits", "taggings"):
        change_third(world, import_id, f"DELETE FROM {table} WHERE exhibit_id = :id")
    change_third(world, import_id, "DELETE FROM exhibits WHERE id = :id")


def name_renamed(world: World, import_id: int) -> None:
    """To another word; the links stay."""
    world.query("UPDATE custodians SET name = 'Miller' WHERE name = 'Jones' AND import_id = :i", i=import_id)


def name_made_anew(world: World, import_id: int) -> None:
    """The row that documents link to has another name, and another row has the old one."""
    name_renamed(world, import_id)
    add = "INSERT INTO custodians (case_id, name) SELECT case_id, 'Jones' FROM imports WHERE id = :i"
    world.query(add, i=import_id)


def import_undone(world: World, import_id: int) -> None:
    """As its status says."""
    world.query("UPDATE imports SET status = 'undone' WHERE id = :i", i=import_id)


def reader_unknown(world: World, import_id: int) -> None:
    """Of an earlier release."""
    world.query("UPDATE import_chunks SET reader = NULL WHERE import_id = :i AND chunk_no = 2", i=import_id)


CHANGES: dict[Change, int] = {
    nothing: 0,
    tag_added: 1,
    value_changed: 1,
    document_removed: 1,
    name_renamed: 4,
    name_made_anew: 4,
    import_undone: 4,
    reader_unknown: 1,
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
def test_twins_leave_what_parsing_leaves(world: World, reads: Reads, change: Change) -> None:
    left = {}
    for case, off in (("With", False), ("Without", True)):
        reads.off = False
        first = world.run(DATA, case=case)
        change(world, first)
        reads.off, before = off, reads.count
        left[case] = left_by(world, world.run(DATA, case=case, shuffle=2, times=2))
        assert reads.count - before == (4 if off else CHANGES[change])
    assert left["With"] == left["Without"]


def test_a_third_import_finds_the_first(world: World, reads: Reads) -> None:
    for _ in range(3):
        last = world.run(DATA)
    assert reads.count == 4
    assert world.query("SELECT unchanged FROM imports WHERE id = :i", i=last) == [(8,)]


OTHERS = {
    "longer header": DATA.replace(b"Color", b"Colour"),
    "other line": DATA.replace(b"\r\nA-1", b"\r\n\r\nA-1"),
    "other bytes in the last chunk": DATA.replace(b"title 8", b"title 9"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_file_is_parsed_whole(world: World, reads: Reads, name: str) -> None:
    world.run(DATA)
    before = reads.count
    world.run(OTHERS[name])
    assert reads.count - before == 4


@pytest.mark.parametrize("options", [{"mode": "overlay"}, {"dry_run": True}, {"multi_value_separator": "|"}])
def test_other_options_parse(world: World, reads: Reads, options: dict[str, Any]) -> None:
    world.run(DATA)
    before = reads.count
    world.run(DATA, **options)
    assert reads.count - before == 4


def test_a_change_between_reading_and_writing_is_seen(world: World, reads: Reads) -> None:
    first = world.run(DATA)
    world.start(DATA)
    messages = world.chunk_messages()
    prepared = [import_chunk.prepare(ChunkMessage(each["import_id"], each["chunk_no"])) for each in messages]
    before = reads.count
    value_changed(world, first)
    for each in prepared:
        import_chunk.finish(each)
    assert reads.count - before == 1
    assert world.query("SELECT code FROM import_rejections") == [("EXISTS_WITH_OTHER_VALUES",)]


def test_without_the_versions_a_changed_document_would_count_as_unchanged(
    world: World, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shell.imports.chunks.exhibit_store._AS_MADE", "TRUE")
    value_changed(world, world.run(DATA))
    again = world.run(DATA)
    assert world.query("SELECT unchanged, rejected FROM imports WHERE id = :i", i=again) == [(8, 0)]


def test_bytes_that_differ_from_what_was_split_are_not_taken(world: World, reads: Reads) -> None:
    """The stored version is the evidence, whatever hash the split found."""
    world.run(DATA)
    import_id = world.start(DATA)
    [(key,)] = world.query("SELECT object_key FROM imports WHERE id = :i", i=import_id)
    put = clients.s3().put_object(Bucket=world.bucket, Key=key, Body=DATA.replace(b"blue", b"grey"))
    world.query(
        "UPDATE imports SET version_id = :v, etag = :e WHERE id = :i", v=put["VersionId"], e=put["ETag"], i=import_id
    )
    assert not any(call(import_chunk.lambda_handler, message) for message in world.chunk_messages())
    assert world.query("SELECT COUNT(*) FROM import_chunks WHERE import_id = :i AND status = 'done'", i=import_id) == [
        (0,)
    ]


def test_another_reader_is_no_twin(world: World, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that reads otherwise, or a database that stores otherwise."""
    world.run(DATA)
    before = reads.count
    reader_identity.identify_reader.cache_clear()
    limits = column_limits("exhibits")
    wider = {**limits, "title": limits["title"]._replace(bytes=1, characters=1)}
    monkeypatch.setattr(reader_identity, "column_limits", lambda _: wider)
    world.run(DATA)
    assert reads.count - before == 4
    monkeypatch.undo()
    reader_identity.identify_reader.cache_clear()
