"""The figures of the benchmarks are computed as their documentation says, and wrong usage is refused first."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import (
    chunk_profile,
    cold_start,
    completion,
    contention,
    file_checks,
    import_rate,
    overlay,
    page_reconciliation,
    scale_out,
    split_kills,
    split_rate,
)
from benchmarks.database import Database
from benchmarks.errors import BenchmarkError
from benchmarks.imports import scale_out_figures
from benchmarks.imports.arguments import LINEAR
from benchmarks.imports.aurora_model import CHUNK_ROWS, SIZES, estimate
from benchmarks.imports.contenders import Run, report, rotate
from benchmarks.imports.contention_figures import Contender, Counters, Figures, eight_to_two, ratio
from benchmarks.imports.contention_worker import WorkResult
from benchmarks.imports.load_file import Shape
from benchmarks.imports.scale import Cost, Growth, Turn
from benchmarks.imports.server import MEGABYTE, buffer_pool, buffer_pool_mb, local_infile
from benchmarks.imports.usage import Usage
from benchmarks.processes import Workers
from benchmarks.split_rate import MeasuredFile
from tests.support.application.command_usage import assert_refused

CONTENDERS = ["ours", "reimport", "load_data", "pattern_bulk", "orm"]
MISUSED = [
    (chunk_profile.main, ("--rows", "0")),
    (cold_start.main, ("--rounds", "0")),
    (cold_start.main, ("--handlers", "start_import,unknown")),
    (completion.main, ("--shapes", "shared,x")),
    (contention.main, ("--workers", "1,65")),
    (contention.main, ("--database-url", "x")),
    (file_checks.main, ("--rows", "x")),
    (import_rate.main, ("--runs", "x")),
    (import_rate.main, ("--scale-rows", "999")),
    (import_rate.main, ("--buffer-pool", "-1")),
    (overlay.main, ("--rows", "999")),
    (page_reconciliation.main, ("--documents", "x")),
    (scale_out.main, ("--workers", "0")),
    (split_kills.main, ("--kills", "x")),
    (split_rate.main, ("--columns", "201")),
    (split_rate.main, ("--seconds", "1")),
]


@pytest.mark.parametrize(("main", "arguments"), MISUSED, ids=[" ".join(arguments) for _, arguments in MISUSED])
def test_wrong_usage_is_refused_before_anything_is_done(
    main: Callable[[Sequence[str]], int], arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(main, arguments, capsys)


def test_a_ratio_over_the_bound_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert import_rate.check_result({"default": LINEAR, "full_case": 0.9}) == 0
    assert import_rate.check_result({"default": 1.0, "full_case": LINEAR + 0.01}) == 1
    assert f"full_case ({LINEAR + 0.01:.2f})" in capsys.readouterr().err


def test_the_same_shape_gives_the_same_bytes_and_another_seed_others() -> None:
    files = [b"".join(Shape(rows=300, columns=3, seed=seed).pieces()) for seed in (1, 1, 2)]
    assert files[0] == files[1] != files[2]


def test_a_slow_run_moves_the_rates_and_not_the_ratios() -> None:
    seconds = {"ours": 2.0, "reimport": 1.0, "load_data": 0.5, "orm": 6.0}
    runs = [
        Run({name: Usage(each * slow, each, each / 2 * slow) for name, each in seconds.items()}, 0.5, 1.5 * slow)
        for slow in (1, 10, 3)
    ]
    result: dict[str, Any] = report(runs, 1000)
    assert (result["vs_load_data"], result["vs_orm"], result["reimport"]) == (0.25, 3.0, 0.5)
    assert result["rows_per_s"]["ours"] == pytest.approx(1000 / 6, abs=0.1)
    assert result["us_per_row"] == {"start_import": 500.0, "chunks": 4500.0}
    assert (result["server_cpu_vs_load_data"], result["server_cpu_us"]["ours"]) == (4.0, 3000.0)
    assert (result["worker_cpu_us_per_row"], result["pipelined"]) == (2000.0, True)
    orders = [rotate(CONTENDERS, number) for number in range(5)]
    assert [order[0] for order in orders] == CONTENDERS
    assert all(sorted(order) == sorted(CONTENDERS) for order in orders)


def test_drift_moves_the_raw_ratio_alone() -> None:
    turns = [Turn(Cost(1.0, 22.0 * slow), Cost(2.0, 20.0 * slow)) for slow in (2, 3, 4)]
    growth = Growth(1000, 100, Cost(2.0, 20.0), Cost(1.0, 66.0), turns)
    assert growth.ratios() == pytest.approx(
        {"ratio": 1.1, "ratio_with_start": 67 / 62, "raw": 3.3, "raw_with_start": 67 / 22}
    )


def test_ratios_of_splitting_are_the_medians_of_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 4_000_000)
    splits = [{"seconds": seconds, "before": 10e6, "peak": peak} for seconds, peak in ((2, 60e6), (1, 50e6), (8, 90e6))]
    reads = [{"seconds": seconds, "reading_s": seconds / 2} for seconds in (1.0, 0.6, 4.0)]
    measured = MeasuredFile(path, 1, splits, reads)
    assert (measured.ratio("seconds"), measured.ratio("reading_s")) == (0.5, 0.25)
    assert (measured.mb_per_s, measured.peak_mb) == (2.0, 50.0)


def test_workers_begin_when_all_are_ready_and_an_error_in_one_is_raised() -> None:
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


def test_rates_are_of_all_rows_between_the_first_begin_and_the_last_end() -> None:
    works = [WorkResult(10.0, 11.0, [0.1] * 98, 1, 0), WorkResult(10.5, 12.0, [0.2, 0.9], 2, 3)]
    figures = Figures.build(300, works, Counters(4, 5, 6))
    assert figures == Figures(150.0, 100.0, 200.0, 4, 5, 6, retries=3, redelivered=3)
    slower = Figures.build(100, works, Counters(1, 1, 1))
    assert Figures.combine([figures, slower, slower]) == Figures(50.0, 100.0, 200.0, 6, 7, 8, 9, 9)


def test_several_rounds_of_more_workers_give_medians_and_totals() -> None:
    rounds = [scale_out_figures.Figures(rate, 40.0, 50.0, 1.0, 1.0, 900.0, 1, 2) for rate in (1.0, 9.0, 2.0)]
    assert scale_out_figures.combine(rounds) == scale_out_figures.Figures(2.0, 40.0, 50.0, 1.0, 1.0, 900.0, 3, 6)
    remote = replace(rounds[0], server_us=None, server_processors=None)
    assert scale_out_figures.combine([remote, remote]).server_us is None


def test_the_model_of_aurora_names_what_limits_an_import() -> None:
    by_functions, *_, large = estimate(100_000_000, server_us=1.0, worker_us=500.0, redo_bytes=1_000.0)
    assert (by_functions.limit, by_functions.functions) == ("functions", 4)
    assert large.rows_per_s == pytest.approx(8 * by_functions.rows_per_s, rel=0.001)
    by_database, *_ = estimate(100_000_000, server_us=500.0, worker_us=1.0, redo_bytes=1_000.0)
    assert by_database.limit == "the database's capacity"
    assert by_database.units == pytest.approx(4.0)
    assert by_database.hours == pytest.approx(100e6 / (4 * 0.25 * 0.7 * 1e6 / 500) / 3600 + 100e6 * 570 / 40e6 / 3600)
    *_, by_split = estimate(100_000_000, server_us=1.0, worker_us=1.0, redo_bytes=1_000.0)
    assert by_split.limit == "splitting"


def test_the_model_of_aurora_has_the_sizes_of_the_template() -> None:
    template = (Path(__file__).parents[2] / "template.yaml").read_text(encoding="utf-8")
    (small, standard), large = (SIZES[name] for name in ("small", "standard")), SIZES["large"]
    assert f"!If [IsSmall, {small[0]}, !If [IsLarge, {large[0]}, {standard[0]}]]" in template
    assert f"!If [IsSmall, {small[1]}, !If [IsLarge, {large[1]}, {standard[1]}]]" in template
    assert f'CHUNK_ROWS: "{CHUNK_ROWS}"' in template


def test_a_slower_machine_moves_the_figures_of_contention_and_not_their_ratio() -> None:
    def at(*speeds: float) -> list[Figures]:
        return [Figures(speed, 1.0, 1.0, 0, 0, 0, 0, 0) for speed in speeds]

    rounds = {(2, Contender.OURS): at(100.0, 10.0, 1.0), (2, Contender.PATTERN): at(50.0, 5.0, 0.5)}
    assert ratio(rounds, (2, Contender.OURS), (2, Contender.PATTERN)) == 2.0
    assert eight_to_two(rounds) is None
    assert eight_to_two({**rounds, (8, Contender.OURS): at(95.0, 9.0, 1.0)}) == 0.95


class SlowServer(Database):
    """The settings of a server that answers with the old size of its buffer pool once after every resize."""

    def __init__(self) -> None:
        self.settings = {"local_infile": "OFF", "innodb_buffer_pool_size": 128 * MEGABYTE}
        self.settings |= {"innodb_buffer_pool_chunk_size": 2 * MEGABYTE, "innodb_buffer_pool_instances": 1}
        self.resizing: int | None = None

    def query(self, statement: str, **values: Any) -> list[Any]:
        """Change or return a setting, as `SET GLOBAL` and `SHOW GLOBAL VARIABLES` do."""
        if statement.startswith("SET GLOBAL local_infile = "):
            self.settings["local_infile"] = "ON" if statement.endswith("1") else "OFF"
        elif statement.startswith("SET GLOBAL innodb_buffer_pool_size = "):
            self.resizing = -(-int(statement.rpartition(" ")[2]) // (2 * MEGABYTE)) * 2 * MEGABYTE
        else:
            name = values["name"]
            answer = [(name, self.settings[name])]
            if name == "innodb_buffer_pool_size" and self.resizing is not None:
                self.settings[name], self.resizing = self.resizing, None
            return answer
        return []


@pytest.mark.parametrize("before", ["ON", "OFF"])
def test_a_changed_setting_of_the_server_is_put_back(before: str) -> None:
    server = SlowServer()
    server.settings["local_infile"] = before
    with local_infile(server), buffer_pool(server, None):
        assert (server.settings["local_infile"], buffer_pool_mb(server)) == ("ON", 128)
    assert server.settings["local_infile"] == before


def test_a_resize_of_the_buffer_pool_is_waited_for_and_put_back() -> None:
    server = SlowServer()
    with buffer_pool(server, 131):
        assert server.settings["innodb_buffer_pool_size"] == 132 * MEGABYTE, "rounded up to whole chunks"
    assert server.settings["innodb_buffer_pool_size"] == 128 * MEGABYTE
