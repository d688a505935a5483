"""Restored data take the place of the present ones, wherever the exchange is interrupted."""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from local.stack.restored import READY, finish_restore

# What the exchange asks of the file system: a folder, four renames, and two deletions.
CALLS = 9


def build(state: Path, *, is_new: bool) -> None:
    for place in ([] if is_new else [state]) + [state / READY]:
        for name in ("database", "objects"):
            (place / name).mkdir(parents=True)
            (place / name / "file").write_text("restored" if place.name == READY else "present")


def read(state: Path) -> dict[str, str]:
    return {str(path.relative_to(state)): path.read_text() for path in state.rglob("*") if path.is_file()}


def run_killed_at(state: Path, number: int) -> bool:
    """Run the exchange in another process that ends before its system call of this number; whether it ended so."""

    def run() -> None:
        calls = iter(range(CALLS + 100))

        def count(event: str, _: object) -> None:
            if event in ("os.rename", "os.mkdir", "os.rmdir", "os.remove") and next(calls) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        finish_restore(state)

    child = get_context("fork").Process(target=run)
    child.start()
    child.join()
    return child.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("is_new", [False, True], ids=["present data", "new directory"])
def test_a_kill_before_any_step_leaves_data_that_the_next_start_completes(tmp_path: Path, *, is_new: bool) -> None:
    killed = 0
    for number in range(CALLS + 10):
        state = tmp_path / str(number)
        build(state, is_new=is_new)
        killed += run_killed_at(state, number)
        finish_restore(state)
        assert read(state) == {"database/file": "restored", "objects/file": "restored"}
    assert killed >= (9 if not is_new else 4)


def test_without_restored_data_nothing_changes(tmp_path: Path) -> None:
    build(tmp_path, is_new=False)
    (tmp_path / READY).rename(tmp_path / "restoring")
    before = read(tmp_path)
    finish_restore(tmp_path)
    assert read(tmp_path) == before
