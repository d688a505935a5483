"""A file that is split with checkpoints: what its split leaves, and how a worker of it is killed."""

from __future__ import annotations

from typing import Any

import pytest

import start_import
from shell.work.reading import dispatch
from tests.integration.imports.conftest import Setting
from tests.integration.imports.import_requests import announce, put, start
from tests.support.application.driver import Message, World
from tests.support.faults.step_hooks import KilledError, Step, at_every_step, nothing

# Repeated ids in and between checkpoints, a repeated header, dates that need an order, and characters beyond ASCII.
ROWS = [f"A-{number % 17},name é {number},{number % 12 + 1}/{number % 28 + 1}/2001" for number in range(40)]
ROWS[20] = "Control Number,Title,Document Date"
FILE = "\r\n".join(["Control Number,Title,Document Date", *ROWS, ""]).encode()
FOUND = (
    "SELECT status, HEX(sha256), encoding, layout, date_orders, rows_seen, size, chunk_count, chunks_left FROM imports",
    "SELECT chunk_no, byte_start, byte_end, first_line, last_line, row_count, HEX(sha256), status FROM import_chunks",
    "SELECT line_no, first_line FROM import_duplicates",
    "SELECT line_no, seq, column_name, code, message FROM import_warnings",
)
Found = list[list[tuple[Any, ...]]]


def found(world: World, import_id: int) -> Found:
    """What the split of an import left in the database."""
    keys = ("id", *["import_id"] * 3)
    return [
        sorted(map(tuple, world.query(f"{query} WHERE {key} = :id", id=import_id)), key=repr)
        for query, key in zip(FOUND, keys, strict=True)
    ]


def split_in_one_pass(world: World, setting: Setting) -> Found:
    """The result without checkpoints."""
    setting("SPLIT_CHECKPOINT_CHUNKS", "1000")
    pending = announce(case="One pass")
    assert start(put(pending, FILE))
    world.chunk_messages()
    setting("SPLIT_CHECKPOINT_CHUNKS", "5")
    return found(world, pending.id)


def stop(step: Step, request: Message, after: Step = nothing, *, world: World) -> None:
    """Start the import of a request, and be killed at a step."""
    with pytest.raises(KilledError), at_every_step(world, step, after):
        dispatch(start_import.OPERATIONS)(request)


def count_steps(world: World) -> tuple[int, list[int]]:
    """The number of statements and COMMITs of a split with checkpoints, and the numbers of the COMMITs."""
    request = put(announce(case="Steps"), FILE)
    with at_every_step(world) as steps:
        dispatch(start_import.OPERATIONS)(request)
    world.chunk_messages()
    return steps.count, steps.commits


def kill_at_checkpoint(world: World) -> Step:
    """Return a step that ends the worker once a checkpoint was written."""
    names = "SELECT split_checkpoint FROM imports WHERE split_checkpoint IS NOT NULL"
    before = world.query(names)

    def step(_number: int) -> None:
        if world.query(names) != before:
            raise KilledError

    return step


def kill_after_a_checkpoint(world: World) -> tuple[int, Message]:
    """An import whose worker was killed after a checkpoint, and its request."""
    pending = announce()
    request = put(pending, FILE)
    stop(nothing, request, kill_at_checkpoint(world), world=world)
    return pending.id, request
