"""The benchmark of contention says what it promises to, and fails on deadlocks of ours and on rows that are missing."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pymysql
import pytest
from sqlalchemy.exc import OperationalError

from benchmarks.contention import main
from benchmarks.errors import BenchmarkError
from benchmarks.imports.comparison import Size, write_hot_file
from benchmarks.imports.contention_figures import Contender, Counters, Figures, eight_to_two, ratio
from benchmarks.imports.contention_worker import ContentionWorker, RetryCounter, WorkResult
from benchmarks.processes import Workers
from shell.db.retry import retry_on_db_conflict
from shell.observability import logger
from tests.support.usage import assert_refused

ROOT = Path(__file__).parents[3]
BRIEFLY = ("--json", "--rounds", "1", "--chunk-rows", "5")
PROMISED = {"rows_per_s", "p50_ms", "p99_ms", "deadlocks", "lock_waits", "retries", "redelivered"}
DAMAGED = "tests.integration.imports.damaged_contention"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    # On a server of its own: deadlocks are counted for a whole server, by tests beside this one too.
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    command = [sys.executable, "-m", *arguments, *BRIEFLY]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_the_pattern_gets_in_its_own_way_and_deadlocks_of_ours_decide_the_exit_code() -> None:
    done = run("benchmarks.contention", "--workers", "1,4", "--rows", "160")
    said = json.loads(done.stdout)
    alone, four = said["workers"]
    assert (alone["workers"], four["workers"], said["rounds"]) == (1, 4, 1)
    assert said["eight_to_two"] is None
    for cell in (alone, four):
        assert cell["ratio"] > 0
        assert all(cell[contender].keys() >= PROMISED and cell[contender]["rows_per_s"] > 0 for contender in Contender)
    assert four["pattern"]["lock_waits"] + four["pattern"]["deadlocks"] > 0, "sixteen chunks that name the same"
    # Whether a deadlock of ours is found is up to the server and the moment; that it is told is not.
    assert done.returncode == int(alone["ours"]["deadlocks"] + four["ours"]["deadlocks"] > 0), done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("round 1 of 1")]) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "told"), [("loses", "are missing"), ("deadlocks", "deadlocks during")])
def test_what_must_never_happen_is_told_and_ends_it_with_an_error(damage: str, told: str) -> None:
    done = run(DAMAGED, damage, "--workers", "1", "--rows", "20")
    assert done.returncode == 1
    assert told in done.stderr
    assert json.loads(done.stdout)["workers"][0]["ours"]["rows_per_s"] > 0, "what was measured is told all the same"


@pytest.mark.parametrize(
    "arguments",
    [("--workers", "0"), ("--workers", "1,65"), ("--rows", "none"), ("--chunk-rows", "0"), ("--database-url", "x")],
)
def test_wrong_usage_is_told_before_anything_is_done(
    arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(main, arguments, capsys)


@pytest.fixture
def replays() -> Iterator[RetryCounter]:
    """What hears the log of this process."""
    heard = RetryCounter()
    logger.addHandler(heard)
    yield heard
    logger._logger.removeHandler(heard)


@pytest.mark.usefixtures("world")
def test_a_replay_is_one_that_the_application_made(replays: RetryCounter) -> None:
    attempts: list[int] = []

    @retry_on_db_conflict
    def third_time_lucky() -> None:
        attempts.append(1)
        if len(attempts) < 3:
            raise OperationalError("SELECT 1", {}, pymysql.err.OperationalError(1213, "Deadlock found"))

    third_time_lucky()
    assert (len(attempts), replays.count) == (3, 2)


def test_each_chunk_is_taken_by_one_worker_and_given_again_until_it_is_done() -> None:
    worker, given, refusals = ContentionWorker(), list[int](), [7, 7, 3]

    def give(chunk: int) -> bool:
        given.append(chunk)
        if chunk in refusals:
            refusals.remove(chunk)
            return False
        return True

    work = worker._work([3, 5, 7], give)
    assert (given, len(work.chunks_s), work.redelivered) == ([3, 3, 5, 7, 7, 7], 3, 3)
    assert worker._work([3, 5, 7], give).chunks_s == [], "all are taken"
    worker.rewind()
    with pytest.raises(BenchmarkError, match="nothing was logged"):
        worker._work([1], lambda _chunk: False)


def test_workers_begin_when_all_are_ready_and_what_goes_wrong_in_one_is_raised() -> None:
    prepared = multiprocessing.get_context("fork").Value("i", 0)

    def prepare(job: int) -> Callable[[], tuple[int, int]]:
        if job < 0:
            raise BenchmarkError(f"{job} cannot be prepared")
        with prepared.get_lock():
            prepared.value += 1
        return lambda: (job, prepared.value)

    workers = Workers[int, tuple[int, int]](2, prepare)
    try:
        assert workers.work([2, 4]) == [(2, 2), (4, 2)], "both were prepared when either began"
        with pytest.raises(BenchmarkError, match="-1 cannot be prepared"):
            workers.work([-1, 2])
    finally:
        workers.close()


def test_what_a_file_names_is_counted_from_its_bytes(tmp_path: Path) -> None:
    file = write_hot_file(tmp_path, Size(rows=200, chunk_rows=10))
    cells = [line.split("\x14") for line in file.path.read_text("utf-8-sig").splitlines()[1:]]
    assert file.stored == [200, *(sum(1 + cell[column].count(";") for cell in cells) for column in (3, 4))]
    names = {name for cell in cells for name in cell[3].strip("\xfe").split("; ")}
    assert len(names) == 5, "few enough to be in every chunk"


@pytest.mark.parametrize(("rows", "pattern"), [(5_000, 2_500), (500, 200), (100, 100), (50, 50)])
def test_the_pattern_gets_whole_chunks_of_rows_that_there_are(rows: int, pattern: int) -> None:
    assert Size(rows, 100).pattern_rows == pattern


def test_rates_are_of_all_rows_between_the_first_begin_and_the_last_end() -> None:
    works = [WorkResult(10.0, 11.0, [0.1] * 98, 1, 0), WorkResult(10.5, 12.0, [0.2, 0.9], 2, 3)]
    figures = Figures.build(300, works, Counters(4, 5, 6))
    assert figures == Figures(150.0, 100.0, 200.0, 4, 5, 6, retries=3, redelivered=3)
    slower = Figures.build(100, works, Counters(1, 1, 1))
    assert Figures.combine([figures, slower, slower]) == Figures(50.0, 100.0, 200.0, 6, 7, 8, 9, 9)


def test_a_machine_that_slows_down_moves_the_figures_and_not_the_ratio() -> None:
    def at(*speeds: float) -> list[Figures]:
        return [Figures(speed, 1.0, 1.0, 0, 0, 0, 0, 0) for speed in speeds]

    rounds = {(2, Contender.OURS): at(100.0, 10.0, 1.0), (2, Contender.PATTERN): at(50.0, 5.0, 0.5)}
    assert ratio(rounds, (2, Contender.OURS), (2, Contender.PATTERN)) == 2.0
    assert eight_to_two(rounds) is None
    assert eight_to_two({**rounds, (8, Contender.OURS): at(95.0, 9.0, 1.0)}) == 0.95
