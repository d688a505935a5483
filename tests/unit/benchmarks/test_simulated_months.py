"""Simulated months: the same by seed, plausible, and with the figures that the documentation and the template have."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.dom import minidom

import pytest

from benchmarks.imports.aurora_model import SIZES
from benchmarks.imports.scale_out_figures import Figures
from benchmarks.simulation import __main__ as command
from benchmarks.simulation.cell import CHUNK_TIMEOUT_S, CHUNK_VISIBILITY_S, SPLIT_VISIBILITY_S, CellSettings, Upload
from benchmarks.simulation.costs import Costs
from benchmarks.simulation.load import SMALL_ROWS, Load
from benchmarks.simulation.month import LEAST_UNITS, Plan, simulate, simulate_fleet
from benchmarks.simulation.plots import Chart, Line
from benchmarks.simulation.prices import compute_bill
from benchmarks.simulation.sweeps import Sweep
from benchmarks.simulation.validation import Alone, calibrate_stack, calibrate_workers, predict_stack, predict_workers
from local.template.reader import Template
from tests.support.application.command_usage import assert_refused

ROOT = Path(__file__).parents[3]
LOAD = Load(tenants=12, files=10)
HOUR_S = 3_600.0


def test_a_load_is_the_same_for_the_same_seed_and_heavy_tailed() -> None:
    uploads = replace(LOAD, tenants=1_000).make_uploads()
    assert uploads == replace(LOAD, tenants=1_000).make_uploads() != replace(LOAD, tenants=1_000, seed=2).make_uploads()
    small = [each.rows for each in uploads if each.rows < SMALL_ROWS]
    assert len(small) > 0.8 * len(uploads)
    assert sum(small) < 0.05 * sum(each.rows for each in uploads)
    assert [each.at for each in uploads] == sorted(each.at for each in uploads)


def test_a_small_month_is_the_same_for_the_same_seed_and_loses_no_row() -> None:
    uploads = LOAD.make_uploads()
    first, again = (simulate_fleet(Plan(deaths=0.01), uploads, 6, LOAD.seconds) for _ in range(2))
    assert first.rows == sum(each.rows for each in uploads)
    assert (first.dollars, first.small_s(0.99), first.find_limits()) == (
        again.dollars,
        again.small_s(0.99),
        again.find_limits(),
    )
    assert sum(cell.dead for cell in first.cells) == 0
    assert 0 < first.database_share < 0.7


def test_more_functions_and_a_larger_database_are_faster_and_no_functions_are_the_limit() -> None:
    uploads = [Upload(0, "t0", 20_000_000)]
    plans = Plan(chunk_concurrency=2), Plan(), Plan("large")
    slow, standard, large = (simulate(plan, uploads, HOUR_S) for plan in plans)
    assert slow.imports[0].seconds > standard.imports[0].seconds > large.imports[0].seconds
    assert max(slow.limits, key=lambda name: slow.limits[name]) == "ChunkConcurrency"


def test_the_database_of_a_small_cell_pauses_and_its_first_import_waits_for_it() -> None:
    small, standard = (simulate(Plan(size), [Upload(60, "t0", 100)], 24 * HOUR_S) for size in ("small", "standard"))
    assert small.capacity_s < 0.05 * standard.capacity_s
    assert small.imports[0].seconds > standard.imports[0].seconds + 5


def test_an_import_that_never_ends_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="1 imports have not ended"):
        simulate(Plan(), [Upload(0, "t0", 100_000_000)], 60.0)


def test_the_settings_are_those_of_the_template() -> None:
    template = Template.load(ROOT / "template.yaml")
    sources = {each.queue: each for each in template.event_sources}
    settings = CellSettings(8)
    chunks, requests = sources["ImportChunksQueue"], sources["ImportRequestsQueue"]
    assert (chunks.batch_size, chunks.max_concurrency) == (settings.batch_size, SIZES["standard"][0])
    assert requests.max_concurrency == settings.split_concurrency
    assert sources["ImportCompletionsQueue"].max_concurrency == settings.complete_concurrency
    assert template.queues["ImportChunksQueue"].visibility == CHUNK_VISIBILITY_S
    assert template.queues["ImportRequestsQueue"].visibility == SPLIT_VISIBILITY_S
    assert template.functions[chunks.function].timeout == CHUNK_TIMEOUT_S
    text = (ROOT / "template.yaml").read_text(encoding="utf-8")
    least = re.search(r"MinCapacity: !If \[IsSmall, (\S+), !If \[IsLarge, (\S+), (\S+)\]\]", text)
    assert least is not None
    assert [float(each) for each in least.groups()] == [LEAST_UNITS[each] for each in ("small", "large", "standard")]


def test_an_idle_month_costs_what_the_documentation_says() -> None:
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    number = r"\*\*(\d+)\*\*"
    [line] = re.findall(rf"^\| \*\*together\*\* \| {number} \| {number} \| {number} \|$", operations, re.M)
    awake_s = {"small": 0.5 * 5 * 60 * 730 / 24, "standard": 0.5 * 730 * HOUR_S, "large": 2 * 730 * HOUR_S}
    bills = [round(compute_bill(size, awake_s[size], 0, 0).total) for size in ("small", "standard", "large")]
    # The lines of the table are rounded.
    assert bills == pytest.approx([int(each) for each in line], abs=1)


def test_workers_are_predicted_from_one_of_them_and_from_the_most() -> None:
    """The figures of docs/performance.md, MariaDB: two workers use the machine fully."""
    measured = (16_699, 0.65, 0.68), (21_745, 0.98, 0.93)
    one, most = (Figures(rate, 0, 0, server, worker, 0, 0, 0) for rate, server, worker in measured)
    costs, processors = calibrate_workers(one, most)
    assert predict_workers(costs, 160_000, 2, processors) == pytest.approx(22_036, rel=0.2)
    assert predict_workers(costs, 160_000, 1, processors) == pytest.approx(16_699, rel=0.01)


@pytest.mark.parametrize("chunk_processors", [0.9, 1.0, 1.33])
def test_costs_of_the_stack_reproduce_the_imports_that_they_come_from(chunk_processors: float) -> None:
    small, larger = Alone(1_000, 0.5, 1.5), Alone(80_000, 2.5, 20.5)
    costs = calibrate_stack(small, larger, 2, chunk_processors)
    assert isinstance(costs, Costs)
    [seconds] = predict_stack(costs, 1_000, [], 2)
    assert seconds == pytest.approx(small.ended_s)
    [seconds] = predict_stack(costs, 80_000, [], 2)
    assert seconds == pytest.approx(larger.ended_s, rel=0.05)
    small_files = [Upload(0.1, "big", 1_000), Upload(0.2, "other", 1_000)]
    large_s, same_s, other_s = predict_stack(costs, 200_000, small_files, 2)
    assert large_s > same_s > 2 * other_s


def test_what_follows_the_ends_of_imports_uses_the_same_processors() -> None:
    """One second of one of two processors after each of 20 small imports: the large one ends some ten seconds later."""
    larger, files = Alone(80_000, 2.5, 20.5), [Upload(float(number), f"other {number}", 1_000) for number in range(20)]
    costs = (calibrate_stack(Alone(1_000, 0.5, 1.5, after_s), larger, 2, 1.0) for after_s in (0.0, 1.0))
    without, with_it = (predict_stack(each, 200_000, files, 2)[0] for each in costs)
    assert with_it - without == pytest.approx(10, abs=2)


def test_a_chart_is_xml_and_names_its_lines() -> None:
    drawing = Chart("a < b", "x", ["1", "2"], "y", [Line("p50", [1, 2]), Line("p99", [3, 4.5])]).draw()
    minidom.parseString(drawing)  # noqa: S318 (our own text)
    assert drawing.startswith("<svg ")
    assert set(re.findall(r">([^<]+)</text>", drawing)) >= {"a &lt; b", "p50", "p99", "8"}


def test_the_command_prints_its_results_and_draws_its_charts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "Sweep", lambda load: Sweep(replace(load, files=5), concurrencies=(2, 4)))
    assert command.main(["month", "--tenants", "10", "--plots", str(tmp_path), "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in results] == ["standard", "large", "ChunkConcurrency 2", "ChunkConcurrency 4"]
    assert len(list(tmp_path.glob("*.svg"))) == 3


@pytest.mark.parametrize("arguments", [("unknown",), ("month", "--tenants", "9"), ("validate", "--rounds", "0")])
def test_wrong_usage_is_refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused(command.main, arguments, capsys)
