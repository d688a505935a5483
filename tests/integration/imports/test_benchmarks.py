"""The benchmarks of imports report what they promise, and fail where rows are missing or deadlocks are counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymysql
import pytest
from sqlalchemy.exc import OperationalError

from benchmarks import split_rate
from benchmarks.check_rate import FIGURES, LIMIT
from benchmarks.chunk_profile import STAGES
from benchmarks.imports.arguments import LINEAR
from benchmarks.imports.contention_figures import Contender
from benchmarks.imports.contention_worker import RetryCounter
from benchmarks.imports.load_file import Shape
from benchmarks.imports.server import DURABILITY
from benchmarks.overlay import LIMITS
from benchmarks.split_rate import MeasuredFile
from shell.db.retry import retry_on_db_conflict
from shell.observability import logger
from tests.support.application.driver import World
from tests.support.servers.provisioned_servers import SERVER

ROOT = Path(__file__).parents[3]
PARTS = {"start_import", "chunks"}
CONTENTION = {"rows_per_s", "p50_ms", "p99_ms", "deadlocks", "lock_waits", "retries", "redelivered"}
SPLITTING = {"vs_csv_reader", "vs_csv_in_memory", "mb_per_s", "peak_mb", "peak_mb_small", "rows", "bytes", "runs"}
DAMAGED = "tests.integration.imports.damaged_benchmark"
Ended = subprocess.CompletedProcess[str]


def run(module: str, *arguments: str, **environment: str) -> Ended:
    """Run a benchmark to its end, on a private server unless the arguments name one."""
    command = [sys.executable, "-m", module, *arguments, "--json"]
    surroundings = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | environment
    return subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False, timeout=300)


def measured(ended: Ended) -> Any:
    """The result of a benchmark that ended well."""
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.slow
def test_imports_are_compared_with_every_other_method_in_every_run() -> None:
    shape = ("--rows", "50", "--runs", "2", "--columns", "3", "--tags", "4")
    server = ("--database-url", os.environ[SERVER])
    ended = run("benchmarks.import_rate", *server, *shape, PYTHONWARNINGS="error::DeprecationWarning")
    result = measured(ended)
    assert "peak_mb" in result
    assert all(result[name] > 0 for name in ("vs_load_data", "vs_pattern_bulk", "vs_orm", "reimport"))
    assert list(result["rows_per_s"]) == ["ours", "reimport", "load_data", "pattern_bulk", "orm"]
    assert all(each > 0 for each in result["rows_per_s"].values())
    assert result["us_per_row"].keys() == PARTS
    assert list(result["server_cpu_us"]) == list(result["rows_per_s"])
    assert (result["worker_cpu_us_per_row"] > 0, result["pipelined"]) == (True, True)
    assert (result["rows"], result["runs"], result["shape"]["columns"], result["shape"]["tags"]) == (50, 2, 3, 4)
    assert (list(result["durability"]), result["buffer_pool_mb"] >= 5) == (list(DURABILITY), True)
    *runs, compared = (line.partition(":")[0] for line in ended.stderr.splitlines())
    assert runs == ["run 1 of 2", "run 2 of 2"]
    assert compared.startswith("import_rate on "), "these sizes have no figures of the last release"


@pytest.mark.slow
def test_scale_compares_three_kinds_of_many_rows_with_few() -> None:
    """More than a hundred chunks in all: so many values of a metric are printed if they may pile up."""
    arguments = ("--database-url", os.environ[SERVER], "--scale", "--scale-rows", "1000")
    ended = run("benchmarks.import_rate", *arguments, CHUNK_ROWS="20")
    kinds = json.loads(ended.stdout)["scale"]
    assert list(kinds) == ["default", "full_case", "shared_names"]
    for kind in kinds.values():
        assert (kind["rows"], kind["small_rows"]) == (1000, 100)
        assert all(kind[name] > 0 for name in ("ratio", "ratio_with_start", "raw", "raw_with_start"))
        assert all(cost.keys() == PARTS for cost in kind["us_per_row"].values())
    assert len([kind for kind in kinds.values() if "peak_mb" in kind]) == (sys.platform == "linux")
    assert ended.returncode == int(any(kind["ratio"] > LINEAR for kind in kinds.values())), ended.stderr


@pytest.mark.slow
def test_contention_reports_both_contenders_and_deadlocks_of_ours_decide_the_exit_code() -> None:
    """On a server of its own: deadlocks are counted for a whole server."""
    ended = run("benchmarks.contention", "--rounds", "1", "--chunk-rows", "5", "--workers", "1,4", "--rows", "160")
    result = json.loads(ended.stdout)
    assert ([each["workers"] for each in result["workers"]], result["eight_to_two"]) == ([1, 4], None)
    for cell in result["workers"]:
        assert cell["ratio"] > 0
        assert all(cell[each].keys() >= CONTENTION and cell[each]["rows_per_s"] > 0 for each in Contender)
    assert ended.returncode == int(any(each["ours"]["deadlocks"] for each in result["workers"])), ended.stderr
    assert len([line for line in ended.stderr.splitlines() if line.startswith("round 1 of 1")]) == 4


@pytest.mark.slow
def test_more_workers_are_measured_and_an_import_on_aurora_is_computed() -> None:
    """On a server of its own: deadlocks are counted for a whole server."""
    result = measured(run("benchmarks.scale_out", "--rounds", "1", "--workers", "1,3", "--rows", "2500"))
    assert list(result["workers"]) == ["1", "3"]
    for figures in result["workers"].values():
        assert all(figures[name] > 0 for name in ("rows_per_s", "server_us", "worker_us", "redo_bytes"))
    assert [each["size"] for each in result["model"]["sizes"]] == ["small", "standard", "large"]


@pytest.mark.slow
def test_a_chunk_is_measured_in_every_stage_of_both_imports() -> None:
    arguments = ("--rows", "50", "--runs", "1", "--database-url", os.environ[SERVER])
    stages = measured(run("benchmarks.chunk_profile", *arguments))["stages"]
    assert list(stages) == ["all handlers of chunks", *(said for said, _, _ in STAGES)]
    assert 0 < stages["  insert exhibits"][0] < stages["write"][0] < stages["all handlers of chunks"][0]
    assert stages["  verify and count a chunk that is there already"][2] > 0


@pytest.mark.slow
def test_a_check_is_measured_beside_the_import_of_its_file() -> None:
    # Small files take as long to complete as large ones: the ratio can be over the limit, which is exit code 1.
    ended = run("benchmarks.check_rate", "--rows", "10000")
    result = json.loads(ended.stdout)
    assert ended.returncode == (result["ratio"] > LIMIT)
    assert {name for kind in ("check", "import") for name in result[kind]} == FIGURES


@pytest.mark.slow
def test_overlays_and_an_undo_are_measured_beside_the_import() -> None:
    ended = run("benchmarks.overlay", "--rows", "2000", "--runs", "1")
    result = json.loads(ended.stdout)
    assert result["ratios"].keys() == LIMITS.keys()
    assert (result["deadlocks"], result["edits"] > 0) == (0, True)


@pytest.mark.slow
def test_a_volume_is_measured_as_a_zip_and_as_a_folder() -> None:
    result = measured(run("benchmarks.volumes", "--documents", "7"))
    assert (result["documents"], result["pages_of_documents"], result["files"]) == (7, 32, 48)
    assert [each["workers"] for each in result["zip"]] == [1, 2]
    assert all(each["list_s"] > 0 and each["files_per_s"] > 0 for each in result["zip"])
    assert all(result[name]["per_s"] > 0 and "peak_mb" in result[name] for name in ("list", "rows", "pages"))


@pytest.mark.slow
def test_completions_are_measured_in_every_shape() -> None:
    result = measured(run("benchmarks.completion", "--chunks", "20", "--names", "6"))
    assert list(result["shapes"]) == ["shared", "spelled", "distinct"]
    assert all(each["seconds"] > 0 and each["statements"] > 0 for each in result["shapes"].values())


@pytest.mark.slow
def test_pages_of_documents_are_measured_for_each_filter_and_direction() -> None:
    result = measured(run("benchmarks.api_pages", "--documents", "500", "--pages", "2", "--limit", "5"))
    assert {each["order"] for each in result["pages"]} == {"asc", "desc", "count", ""}
    found = {each["filter"] for each in result["pages"] if each["items"]}
    assert found >= {"whole case", "without tag", "import", "changed by import", "Bates range", "parent", "family"}


@pytest.mark.slow
def test_splitting_is_measured_with_both_files_in_processes_of_their_own() -> None:
    result = measured(run("benchmarks.split_rate", "--rows", "3000", "--runs", "2"))
    assert result.keys() >= SPLITTING
    assert (result["rows"], result["rows_small"], result["runs"]) == (3_000, 300, 2)
    assert all(result[name] > 0 for name in SPLITTING)


@pytest.mark.slow
def test_splits_that_are_killed_are_compared_with_undisturbed_ones() -> None:
    result = measured(run("benchmarks.split_kills", "--megabytes", "6", "--chunks", "10", "--kills", "1"))
    assert (result["rows"], result["chunks_equal"]) == (60_000, True)
    assert list(result["runs"]) == ["one pass", "checkpoints", "killed"]
    assert all(each["rows_per_s"] > 0 and each["peak_mb"] > 0 for each in result["runs"].values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "arguments", "messages"),
    [
        ("orm", ("--rows", "20", "--runs", "1"), ["losing left", "rows in taggings"]),
        ("loses", ("--rounds", "1", "--chunk-rows", "5", "--workers", "1", "--rows", "20"), ["are missing"]),
        ("deadlocks", ("--rounds", "1", "--chunk-rows", "5", "--workers", "1", "--rows", "20"), ["deadlocks during"]),
    ],
)
def test_rows_that_are_missing_and_deadlocks_end_it_with_an_error(
    damage: str, arguments: tuple[str, ...], messages: list[str]
) -> None:
    ended = run(DAMAGED, damage, *arguments)
    assert ended.returncode == 1
    assert all(message in ended.stderr for message in messages), ended.stderr
    assert bool(ended.stdout) is (damage != "orm"), "what is no comparison is not reported"


def test_rows_that_splitting_does_not_find_end_it_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def one_too_many(shape: Shape, path: Path) -> MeasuredFile:
        shape.write(path)
        return MeasuredFile(path, shape.rows + 1)

    monkeypatch.setattr(split_rate, "_write_file", one_too_many)
    assert split_rate.main(["--rows", "20", "--runs", "1"]) == 1
    assert capsys.readouterr() == ("", "error: split found 20 rows of 21\n")
    monkeypatch.setenv("MAX_FILE_BYTES", "10")
    assert split_rate.main(["--rows", "20", "--runs", "1"]) == 1
    assert "the maximum is 10" in capsys.readouterr().err


def test_retries_of_the_application_are_counted() -> None:
    counter, attempts = RetryCounter(), list[int]()

    @retry_on_db_conflict
    def third_time_lucky() -> None:
        attempts.append(1)
        if len(attempts) < 3:
            raise OperationalError("SELECT 1", {}, pymysql.err.OperationalError(1213, "Deadlock found"))

    logger.addHandler(counter)
    third_time_lucky()
    logger._logger.removeHandler(counter)
    assert (len(attempts), counter.count) == (3, 2)


def test_the_generated_file_is_imported_without_rejections_and_warnings(world: World) -> None:
    world.run(b"".join(Shape(rows=120, columns=14, custodians=3, tags=5, text=60).pieces()))
    assert world.query("SELECT status, imported, rejected, warnings FROM imports") == [("completed", 120, 0, 0)]
