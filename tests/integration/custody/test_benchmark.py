"""The benchmark of custody says what it promises to, and fails when it finds periods that overlap."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.custody.clients import WorkResult
from benchmarks.custody.command import main
from benchmarks.custody.figures import Cell, Figures, build_figures, combine, ratios
from benchmarks.custody.workload import Contention, requests
from tests.integration.custody.custody_values import WAYS
from tests.support.application.command_usage import assert_refused
from tests.support.servers.provisioned_servers import SERVER

ROOT = Path(__file__).parents[3]
BRIEFLY = ("--json", "--seconds", "0.05", "--rounds", "1", "--clients", "2")
PROMISED = {"requests_per_s", "p50_ms", "p99_ms", "deadlocks", "retries", "overlaps"}


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *BRIEFLY, "--database-url", os.environ[SERVER], *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_it_measures_both_ways_and_finds_no_overlap() -> None:
    done = run("benchmarks.custody")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    for way in WAYS:
        assert said["strategies"][way].keys() >= PROMISED
        assert said["strategies"][way]["requests_per_s"] > 0
        assert said["strategies"][way]["overlaps"] == 0
    cells = [(cell["strategy"], cell["clients"], cell["contention"]) for cell in said["cells"]]
    assert sorted(cells) == sorted((way, 2, kind) for way in WAYS for kind in ("low", "high"))
    assert all(cell.keys() >= PROMISED | {"refused", "gave_up"} for cell in said["cells"])
    assert len(done.stderr.splitlines()) == len(cells), "a line for each"


@pytest.mark.slow
def test_overlaps_are_found_and_end_it_with_an_error() -> None:
    done = run("tests.integration.custody.damaged_benchmark", "--clients", "1")
    assert done.returncode == 1
    assert "periods overlap" in done.stderr
    assert all(json.loads(done.stdout)["strategies"][way]["overlaps"] > 0 for way in WAYS)


@pytest.mark.parametrize(
    "arguments",
    [("--clients", "0"), ("--clients", "1,65"), ("--seconds", "nan"), ("--rounds", "-1"), ("--database-url", "x")],
)
def test_wrong_usage_is_reported_before_anything_is_done(
    arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(main, arguments, capsys)


def test_every_request_counts_and_every_attempt_beyond_its_first() -> None:
    quick, slow = WorkResult([0.001] * 98, 100, 3, 0, 0.5), WorkResult([0.002, 0.5], 4, 0, 1, 1.0)
    figures = build_figures([quick, slow], deadlocks=5, overlaps=0)
    assert figures == Figures(198.0, 1.0, 2.0, 100, 5, 4, 0, 3, 1)


def test_what_is_compared_is_the_median_and_what_is_counted_the_total() -> None:
    rounds = [Figures(speed, 10.0, 20.0, 7, 1, 2, 0, 3, 0) for speed in (100.0, 10.0, 90.0)]
    assert combine(rounds) == Figures(90.0, 10.0, 20.0, 21, 3, 6, 0, 9, 0)


def test_a_machine_that_slows_down_moves_the_figures_and_not_the_ratio() -> None:
    slowing = [Figures(speed, 1.0, 1.0, 1, 0, 0, 0, 0, 0) for speed in (100.0, 10.0, 1.0)]
    halves = [Figures(each.requests_per_s / 2, 1.0, 1.0, 1, 0, 0, 0, 0, 0) for each in slowing]
    rounds = {Cell(1, Contention.LOW, "pessimistic"): slowing, Cell(1, Contention.LOW, "optimistic"): halves}
    assert ratios(rounds, 1, Contention.LOW)["requests_per_s"] == 0.5


def test_both_ways_get_the_same_requests_and_every_client_others() -> None:
    one, again, other = (requests(Contention.HIGH, client, 2, "seed") for client in (0, 0, 1))
    first = [next(one) for _ in range(20)]
    assert first == [next(again) for _ in range(20)]
    assert first != [next(other) for _ in range(20)]
