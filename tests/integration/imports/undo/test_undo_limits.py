"""What an undo costs, and what keeps documents besides edits: Bates numbers, and properties that do not fit."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, cycle, islice
from typing import Any

import pytest

import import_chunk
from core.codes import KeptCode
from core.contracts.pages import ListQuery
from core.contracts.taggings import TaggingRequest
from core.exhibit_history import Action, Change, Entry, Key, Kind, Stated, Value, encode_stated
from core.imports import undo as rules
from core.imports.history_fold import IsLive
from shell.db.session import session
from shell.exhibits.commands import remove_taggings
from shell.exhibits.history import Author, NewEntry, write_entries
from shell.imports.undo import restoring
from shell.imports.undo.histories import read_histories
from shell.imports.undo.queries import get_undo
from shell.imports.undo.store import GENERATIONS
from shell.productions.queries import list_documents
from shell.productions.steps import PRODUCTION, reserve
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import committed
from tests.support.application.driver import World, call
from tests.support.database.server_status import statements
from tests.support.exhibits.history import find_gaps
from tests.support.productions.runs import ask
from tests.support.undo.runs import CALLER, begin_undo, counts, dump_documents, end_undo, kept, undo

LARGE, MOST_BYTES = 1_000, 40_000_000
BODY = "\\" * 32_000


def write_rows(count: int, version: str) -> bytes:
    rows = "".join(f"A-{n},{version} {n},{version};all,{version}\r\n" for n in range(count))
    return f"Control Number,Title,Tags,Author\r\n{rows}".encode()


def count_statements(world: World, import_id: int) -> int:
    """The statements of the only part of an undo."""
    [message] = begin_undo(world, import_id)
    found = statements(world, lambda: call(import_chunk.lambda_handler, message))
    end_undo()
    return found


def test_statements_do_not_grow_with_the_documents(world: World) -> None:
    # What a process queries once in its life is queried.
    undo(world, world.run(write_rows(2, "two"), case="Warm"))
    found: dict[int, tuple[int, int]] = {}
    for size in (20, 180):
        case = f"{size} rows"
        first = world.run(write_rows(size, "one"), case=case)
        second = world.run(write_rows(size, "two"), case=case, mode="overlay", multi_values="replace")
        found[size] = (count_statements(world, second), count_statements(world, first))
    print(f"statements of a part that restores, and of one that removes: {found}")
    assert found[20] == found[180]
    assert max(found[20]) <= 40


def test_statements_do_not_grow_with_the_depth_of_a_family(world: World, chunk_rows: Chunks) -> None:
    """One deeper than is read goes in steps, each time the import is undone again."""
    chunk_rows(5)
    found: dict[int, list[int]] = {}
    for size in (20, GENERATIONS + 25):
        rows = "".join(f"A-{n},{f'A-{n - 1}' if n else ''}\r\n" for n in range(size))
        import_id = world.run(f"Control Number,Parent\r\n{rows}".encode(), case=f"{size} generations")
        parts = begin_undo(world, import_id)
        found[size] = [statements(world, partial(call, import_chunk.lambda_handler, part)) for part in parts]
        end_undo()
        undone = get_undo(CALLER, import_id)
        assert (undone.status.value == "undone") == (size < GENERATIONS)
        assert [each.code.value for each in undone.reasons] == ([] if size < GENERATIONS else ["HAS_CHILDREN"])
    assert max(found[20]) + 2 >= max(found[GENERATIONS + 25])
    assert counts(undo(world, import_id))[0] == "undone"


@pytest.mark.slow
def test_a_thousand_documents_of_64_kilobytes_come_back_in_bounded_memory(world: World) -> None:
    rows = "".join(f"L-{n},{BODY}\r\n" for n in range(LARGE))
    world.run(f"Control Number,Body\r\n{rows}".encode())
    before = dump_documents(world)
    clearing = "".join(f"L-{n},\r\n" for n in range(LARGE))
    overlay = world.run(f"Control Number,Body\r\n{clearing}".encode(), mode="overlay", blanks="clear")
    parts = begin_undo(world, overlay)
    assert len(parts) == 1
    tracemalloc.start()
    try:
        assert call(import_chunk.lambda_handler, *parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    end_undo()
    print(f"bytes at the peak: {peak}")
    assert dump_documents(world) == before
    assert peak < MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("removes", [True, False], ids=["removed", "restored"])
def test_histories_of_many_versions_are_undone_in_bounded_memory(world: World, removes: bool) -> None:
    """Compressed, such a history takes less than a thousandth of what it holds."""
    rows = [f"L-{n},{{}}\r\n" for n in range(60)]
    bodies = [BODY[:31_000], "/" * 60_000]
    imports = []
    for version in range(9):
        mode = "overlay" if version else "append"
        data = "".join(each.format(bodies[version % 2]) for each in rows)
        imports.append(world.run(f"Control Number,Body\r\n{data}".encode(), mode=mode))
    if removes:
        world.query("UPDATE imports SET status = 'undone' WHERE id > :first", first=imports[0])
    parts = begin_undo(world, imports[0 if removes else -1])
    tracemalloc.start()
    try:
        assert all(call(import_chunk.lambda_handler, part) for part in parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    end_undo()
    print(f"bytes at the peak: {peak}")
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0 if removes else 60,)]
    assert peak < MOST_BYTES


@pytest.mark.parametrize("are_equal", [True, False], ids=["equal", "different"])
def test_wide_statements_of_many_documents_are_held_in_bounded_memory(world: World, are_equal: bool) -> None:
    """Those of equal rows once, those of rows with other empty cells a few documents at a time."""
    columns = [Key(Kind.PROPERTY, f"Column {number}") for number in range(40)]
    statements = [Stated(frozenset(each)) for each in islice(combinations(columns, 30), 1 if are_equal else 9_000)]
    title = {Key(Kind.FIELD, "title"): Change("one", "two")}
    new = [NewEntry(1 + n // 6, 2 + n % 6, title, 2, each) for n, each in enumerate(islice(cycle(statements), 9_000))]
    with session() as transaction:
        write_entries(transaction, Author(Action.OVERLAID, "ann@example.com", 1), new)
    del new, statements
    encode_stated.cache_clear()
    tracemalloc.start()
    try:
        with session() as reading:
            held = [len(part) for part in read_histories(reading, range(1, 1_501))]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    print(f"documents at once: {held}, bytes at the peak: {peak}")
    assert sum(held) == 1_500
    assert (len(held) == 1) is are_equal
    assert peak < 24_000_000


def test_properties_that_do_not_fit_together_stay(world: World) -> None:
    world.run(f"Control Number,First\r\nA-1,{'x' * 40_000}\r\n".encode())
    clearing = world.run(b"Control Number,First,Title\r\nA-1,,\r\n", mode="overlay", blanks="clear")
    world.run(f"Control Number,Second\r\nA-1,{'y' * 40_000}\r\n".encode(), mode="overlay")
    assert counts(undo(world, clearing))[:4] == ("undone_with_conflicts", 0, 0, 1)
    assert kept(clearing) == [(2, "A-1", "DOES_NOT_FIT", "First")]
    [(stored,)] = world.query("SELECT document_properties FROM exhibits")
    assert list(json.loads(stored)) == ["Second"]
    assert find_gaps(world) == []


def test_the_row_hash_goes_if_values_change_beside_properties_that_do_not_fit(world: World) -> None:
    """With it, the file that created the document would find it unchanged."""
    x, y = "x" * 40_000, "y" * 40_000
    created = f"Control Number,Title,First,Second,Tags\r\nA-1,one,,{y},hot\r\n".encode()
    world.run(created)
    rows = (f"two,{x},", f"three,{'s' * 40},", f"one,,{y}")
    data = [f"Control Number,Title,First,Second\r\nA-1,{row}\r\n".encode() for row in rows]
    _, second, third = [world.run(each, mode="overlay", blanks="clear") for each in data]
    [(exhibit,)] = world.query("SELECT id FROM exhibits")
    tagging = TaggingRequest.model_validate({"exhibitIds": [exhibit], "tags": ["hot"]})
    committed(remove_taggings, CALLER, tagging)
    world.run(f"Control Number,Second,Tags\r\nA-1,{y},hot\r\n".encode(), mode="overlay")
    undo(world, second)
    stored = "SELECT title, row_hash IS NOT NULL FROM exhibits"
    assert world.query(stored) == [("one", True)]
    undo(world, third)
    assert kept(third) == [(2, "A-1", "DOES_NOT_FIT", "First")]
    assert world.query(stored) == [("two", False)]
    assert find_gaps(world) == []


def test_documents_with_bates_numbers_stay_unless_all_are_void(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    first = world.run(b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\nA-3,three\r\n")
    ids = dict(world.query("SELECT control_number, id FROM exhibits"))
    for number in ("A-1", "A-2"):
        reserve({PRODUCTION: ask(query=None, exhibitIds=[ids[number]])})
    world.query("UPDATE production_documents SET status = 'void' WHERE exhibit_id = :id", id=ids["A-2"])
    assert counts(undo(world, first))[:4] == ("undone_with_conflicts", 0, 2, 1)
    assert kept(first) == [(2, "A-1", "IN_PRODUCTION", None)]
    # The listing of numbers that are void still names the document.
    [(void,)] = world.query("SELECT production_id FROM production_documents WHERE status = 'void'")
    assert [each.control_number for each in list_documents(CALLER, void, ListQuery()).items] == ["A-2"]


def compare_values(
    entries: Sequence[Entry], import_id: int, live: IsLive, current: Mapping[Key, Value]
) -> rules.Restored:
    """What an undo would do that looks at values: take back what the import set where it is still there."""
    own = [entry for entry in entries if entry.import_id == import_id and entry.undo_no is None]
    changes = {key: change for entry in own for key, change in entry.changes.items()}
    back = {key: Change(current[key], each.old) for key, each in changes.items() if current[key] == each.new}
    kept_keys = [rules.Kept(KeptCode.CHANGED_SINCE, key) for key in changes.keys() - back.keys()]
    return rules.Restored({key: change for key, change in back.items() if change.old != change.new}, kept_keys)


def test_an_undo_that_compares_values_takes_the_value_of_a_user_and_brings_an_undone_one_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    monkeypatch.setattr(restoring, "restore", compare_values)
    titles: dict[str, Any] = {}
    for name in ("both", "reverse"):
        world.run(b"Control Number,Title\r\nA-1,one\r\n", case=name)
        two = world.run(b"Control Number,Title\r\nA-1,two\r\n", case=name, mode="overlay")
        three = world.run(b"Control Number,Title\r\nA-1,three\r\n", case=name, mode="overlay")
        for each in (two, three) if name == "both" else (three, two):
            undo(world, each)
        place = "SELECT e.title FROM exhibits AS e JOIN cases AS c ON c.id = e.case_id WHERE c.name = :name"
        titles[name] = world.query(place, name=name)[0][0]
    assert titles == {"both": "two", "reverse": "one"}
