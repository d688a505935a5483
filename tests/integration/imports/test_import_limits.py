"""What an import costs: statements a chunk, counted by the server, and memory of the splitting pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

import complete_import
import import_chunk
from benchmarks.imports.range_server import serve_file
from samples.generator import Generated, generate
from samples.large import write_large
from samples.spec import Fault, FaultKind, Spec
from shell.settings import settings
from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import Handler, Message, World, call, complete_imports, completion_messages
from tests.support.database.server_status import session_statements
from tests.support.imports.accounting import assert_accounted

MOST_STATEMENTS = 29
# Of a chunk that is not the first of its names.
ORDINARY_STATEMENTS = 17
# Of a completion, of which each batch of names or warnings takes a few more.
COMPLETION_STATEMENTS = 42
MOST_BYTES = 150_000_000
LARGE = 200_000_000
KILOBYTE = Spec(rows=1_000, properties=9, property_length=(70, 95), custodians=12, tags=14)


def statements_of(world: World, message: Message, handler: Handler = import_chunk.lambda_handler) -> int:
    """How many statements the server counted on the one connection that a handler used; asking costs none."""
    opened: list[object] = []
    # A connection of a certain age would be replaced in between.
    world.engine.dispose()
    event.listen(world.engine, "connect", lambda connection, _record: opened.append(connection))
    session_statements(world)
    opened.clear()
    number, first = session_statements(world)
    _, before = session_statements(world)
    assert call(handler, message)
    same, after = session_statements(world)
    assert (same, opened) == (number, []), "another connection was used"
    return (after - before) - (before - first)


def counted(world: World, made: Generated, case: str) -> list[int]:
    """The statements of each chunk of a file, in order."""
    # What a process queries once in its life is queried.
    world.run(generate(Spec(rows=1)).data, case="Warm")
    import_id = world.start(made.data, case=case)
    counts = [statements_of(world, message) for message in world.chunk_messages()]
    complete_imports()
    assert_accounted(world, import_id, made.truth)
    return counts


@pytest.mark.slow
def test_a_chunk_of_a_thousand_rows_of_a_kilobyte(world: World) -> None:
    made = generate(KILOBYTE)
    assert 900 < len(made.data) / 1_000 < 1_200
    first = counted(world, made, "New names")
    faults = tuple(Fault(kind) for kind in FaultKind if kind is not FaultKind.HUGE_PROPERTY for _ in range(5))
    worst = counted(world, generate(replace(KILOBYTE, faults=faults)), "With every fault")
    print(f"statements of a chunk: {first}; with every kind of fault: {worst}")
    assert first[0] <= MOST_STATEMENTS
    # One each for rejections, warnings, their counts, and their announcement.
    assert worst[0] <= first[0] + 4


def test_the_last_chunk_takes_as_many_statements_as_an_ordinary_one(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(20)
    counts = counted(world, generate(Spec(rows=60)), "Three chunks")
    print(f"statements of three chunks: {counts}")
    assert max(counts) <= MOST_STATEMENTS
    assert counts[1] == counts[2] <= ORDINARY_STATEMENTS


def test_statements_grow_neither_with_the_rows_nor_where_they_are_unchanged(world: World) -> None:
    few, many = (generate(Spec(rows=rows, properties=1, property_length=(10, 20))) for rows in (100, 1_000))
    first = counted(world, few, "Few")[0]
    # On a busy machine the server has once counted one more; growth would be by hundreds.
    assert counted(world, many, "Many")[0] <= min(first + 3, MOST_STATEMENTS)
    world.start(few.data, case="Few")
    again = statements_of(world, world.chunk_messages()[0])
    complete_imports()
    print(f"statements: {first} new, {again} unchanged")
    assert again <= first
    assert world.query("SELECT unchanged FROM imports ORDER BY id DESC LIMIT 1") == [(100,)]


def test_names_that_change_their_spelling_at_the_end_need_no_statement_each(world: World, chunk_rows: Chunks) -> None:
    """The chunk with the lower lines comes last: every name takes over its spelling and line."""
    names = 100
    chunk_rows(names)
    spelled = [f'A-{n},"Name {n}"' for n in range(names)] + [f'B-{n},"NAME {n}"' for n in range(names)]
    world.run(generate(Spec(rows=1)).data, case="Warm")
    world.start(b"Control Number,Custodian\r\n" + "\r\n".join(spelled).encode())
    first, second = world.chunk_messages()
    assert world.import_chunk(second)
    assert call(import_chunk.lambda_handler, first)
    (message,) = completion_messages()
    counted = statements_of(world, message, complete_import.lambda_handler)
    print(f"statements of a completion: {counted}")
    assert counted <= COMPLETION_STATEMENTS
    assert world.query("SELECT COUNT(*) FROM custodians WHERE CAST(name AS BINARY) LIKE 'Name %'") == [(names,)]


@pytest.mark.slow
def test_splitting_two_hundred_megabytes_takes_little_memory(migrated: dict[str, str], tmp_path: Path) -> None:
    large = write_large(tmp_path / "large.dat", size=LARGE)
    with serve_file(large.path) as address:
        environment = {**os.environ, **migrated, "AWS_ENDPOINT_URL": address}
        command = [sys.executable, "-m", "benchmarks.imports.one_pass", "split"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    megabytes = {name: report[name] // 1_000_000 for name in ("before", "peak")}
    print(f"peak memory of splitting {large.size // 1_000_000} MB: {megabytes} MB")
    assert report["rows_seen"] == large.rows_seen
    assert report["chunks"] >= large.rows_seen // settings().chunk_rows
    assert report["peak"] < MOST_BYTES
