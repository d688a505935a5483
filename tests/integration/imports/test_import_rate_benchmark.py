"""The benchmark of imports says what it promises to, compares what is comparable, and fails where it is not."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.database import Database, temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.import_rate import check_result, main
from benchmarks.imports.arguments import LINEAR
from benchmarks.imports.contenders import Run, report, rotate
from benchmarks.imports.load_file import Shape
from benchmarks.imports.scale import Cost, Growth, Turn
from benchmarks.imports.server import DURABILITY, buffer_pool, buffer_pool_mb, local_infile
from tests.support.servers import SERVER
from tests.support.usage import assert_refused
from tests.support.world import World

ROOT = Path(__file__).parents[3]
RATIOS = {"vs_load_data", "vs_pattern_bulk", "vs_orm", "reimport"}
PARTS = {"start_import", "chunks"}
CONTENDERS = ["ours", "reimport", "load_data", "pattern_bulk", "orm"]


def run(module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, "--json", "--database-url", os.environ[SERVER], *arguments]
    surroundings = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def compared() -> subprocess.CompletedProcess[str]:
    """Two runs of fifty rows."""
    return run("benchmarks.import_rate", "--rows", "50", "--runs", "2", "--columns", "3", "--tags", "4")


@pytest.fixture(scope="module")
def scaled() -> subprocess.CompletedProcess[str]:
    """A thousand rows, in more than a hundred chunks in all: so many metrics are printed if they may pile up."""
    return run("benchmarks.import_rate", "--scale", "--scale-rows", "1000", CHUNK_ROWS="20")


def test_it_measures_every_side_of_every_run(compared: subprocess.CompletedProcess[str]) -> None:
    assert compared.returncode == 0, compared.stderr
    said = json.loads(compared.stdout)
    assert all(said[name] > 0 for name in RATIOS)
    assert list(said["rows_per_s"]) == CONTENDERS
    assert all(each > 0 for each in said["rows_per_s"].values())
    assert said["us_per_row"].keys() == PARTS
    assert (said["rows"], said["runs"], said["shape"]["columns"], said["shape"]["tags"]) == (50, 2, 3, 4)
    assert [line.partition(":")[0] for line in compared.stderr.splitlines()] == ["run 1 of 2", "run 2 of 2"]


def test_it_tells_what_the_figures_depend_on(compared: subprocess.CompletedProcess[str]) -> None:
    said = json.loads(compared.stdout)
    assert list(said["durability"]) == list(DURABILITY)
    assert said["durability"]["innodb_flush_log_at_trx_commit"] in ("0", "1", "2")
    assert said["buffer_pool_mb"] >= 5
    assert said["server"]
    # A process that imports chunks makes clients and connects; that takes megabytes, not hundreds of them.
    assert 1 < said["peak_mb"] < 200 or sys.platform != "linux"


@pytest.mark.slow
def test_a_side_that_loses_rows_is_no_comparison() -> None:
    done = run("tests.integration.imports.damaged_import_rate", "--rows", "20", "--runs", "1")
    assert done.returncode == 1
    assert "losing left" in done.stderr
    assert "rows in taggings" in done.stderr
    assert done.stdout == ""


def test_scale_compares_three_kinds_of_many_rows_with_few(scaled: subprocess.CompletedProcess[str]) -> None:
    said = json.loads(scaled.stdout)
    assert list(said["scale"]) == ["default", "full_case", "shared_names"]
    for kind in said["scale"].values():
        assert (kind["rows"], kind["small_rows"]) == (1000, 100)
        assert all(kind[name] > 0 for name in ("ratio", "ratio_with_start", "raw", "raw_with_start"))
        assert all(cost.keys() == PARTS for cost in kind["us_per_row"].values())
    over = any(kind["ratio"] > LINEAR for kind in said["scale"].values())
    assert scaled.returncode == int(over), scaled.stderr


def test_scale_weighs_a_chunk_of_either_file(scaled: subprocess.CompletedProcess[str]) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells the most memory that a process held")
    [weighed] = [kind for kind in json.loads(scaled.stdout)["scale"].values() if "peak_mb" in kind]
    assert 0.5 < weighed["peak_mb"] / weighed["small_peak_mb"] < 2


def test_a_ratio_over_the_bound_ends_it_with_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_result({"default": LINEAR, "full_case": 0.9}) == 0
    assert check_result({"default": 1.0, "full_case": LINEAR + 0.01}) == 1
    assert f"full_case ({LINEAR + 0.01:.2f})" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [("--rows", "0"), ("--runs", "x"), ("--tags", "0"), ("--scale-rows", "999"), ("--buffer-pool", "-1")],
)
def test_wrong_usage_is_told_before_anything_is_done(
    arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(main, arguments, capsys)


@pytest.mark.parametrize(("raised", "code"), [(KeyboardInterrupt(), 130), (BenchmarkError("no server"), 1)])
def test_what_stops_it_is_told(raised: BaseException, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    @contextmanager
    def stopped(_: str | None) -> Iterator[Database]:
        raise raised
        yield

    assert main(("--rows", "1"), stopped) == code
    out, err = capsys.readouterr()
    assert not out
    assert str(raised) in err


def test_ratios_are_of_rates_and_medians_of_the_runs() -> None:
    # The machine is not as fast in every run: figures move, and ratios do not.
    runs = [
        Run({"ours": 2.0 * slow, "reimport": 1.0 * slow, "load_data": 0.5 * slow, "orm": 6.0 * slow}, 0.5, 1.5 * slow)
        for slow in (1, 10, 3)
    ]
    said: dict[str, Any] = report(runs, 1000)
    assert (said["vs_load_data"], said["vs_orm"], said["reimport"]) == (0.25, 3.0, 0.5)
    assert said["rows_per_s"]["ours"] == pytest.approx(1000 / 6, abs=0.1)
    assert said["us_per_row"] == {"start_import": 500.0, "chunks": 4500.0}


def test_every_side_comes_first_in_turn() -> None:
    orders = [rotate(CONTENDERS, number) for number in range(5)]
    assert [order[0] for order in orders] == CONTENDERS
    assert all(sorted(order) == sorted(CONTENDERS) for order in orders)


def test_drift_moves_the_raw_ratio_alone() -> None:
    turns = [Turn(Cost(1.0, 22.0 * slow), Cost(2.0, 20.0 * slow)) for slow in (2, 3, 4)]
    growth = Growth(1000, 100, Cost(2.0, 20.0), Cost(1.0, 66.0), turns)
    assert growth.ratios() == pytest.approx(
        {"ratio": 1.1, "ratio_with_start": 67 / 62, "raw": 3.3, "raw_with_start": 67 / 22}
    )


def test_what_is_changed_on_the_server_is_put_back() -> None:
    with temporary_database(os.environ[SERVER]) as database:
        [(before,)] = database.query("SELECT @@GLOBAL.local_infile")
        try:
            for was in (0, 1):
                database.query(f"SET GLOBAL local_infile = {was}")
                with local_infile(database):
                    assert database.query("SELECT @@GLOBAL.local_infile") == [(1,)]
                assert database.query("SELECT @@GLOBAL.local_infile") == [(was,)]
        finally:
            database.query(f"SET GLOBAL local_infile = {before}")
        pool = buffer_pool_mb(database)
        with buffer_pool(database, None):
            assert buffer_pool_mb(database) == pool
        with buffer_pool(database, pool + 128):
            assert buffer_pool_mb(database) >= pool + 128
        assert buffer_pool_mb(database) == pool


def test_the_importer_finds_nothing_wrong_with_the_generated_file(world: World) -> None:
    shape = Shape(rows=120, columns=14, custodians=3, tags=5, text=60)
    world.run(b"".join(shape.pieces()))
    [done] = world.query("SELECT status, rows_seen, imported, rejected, warnings FROM imports")
    assert tuple(done) == ("completed", 120, 120, 0, 0)
    assert world.query("SELECT COUNT(*) FROM import_warnings") == [(0,)]
    links = 120 + math.ceil(120 * 0.25)
    assert world.query("SELECT COUNT(*) FROM custodian_exhibits")[0][0] == pytest.approx(links, rel=0.2)
