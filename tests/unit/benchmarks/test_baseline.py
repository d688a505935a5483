"""`make bench` says which ratios are worse than those of the last release, and never fails for it."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import split_rate
from benchmarks.baseline import FILE, MeasuredRatios, add_baseline, compare, follow_up

RATIOS = {"vs_orm": 3.0, "reimport": 0.5, "server_cpu_vs_load_data": None}
PLAYED = MeasuredRatios("import_rate", RATIOS, {"rows": 8_000}, "10.11.19-MariaDB-1")
KNOWN = {"release": "1.2.0", "measured": "2026-01-31", "sizes": {"rows": 8_000}}


def known(**ratios: float) -> dict[str, object]:
    return {**KNOWN, "ratios": ratios}


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ({"vs_orm": 3.0, "reimport": 0.5}, None),
        ({"vs_orm": 3.29, "reimport": 0.46}, None),
        ({"vs_orm": 1.0, "reimport": 0.9}, None),
        ({"vs_orm": 3.31}, "slower: vs_orm was 3.31 in 1.2.0 (2026-01-31), now 3.00"),
        ({"reimport": 0.45}, "slower: reimport was 0.45 in 1.2.0 (2026-01-31), now 0.50"),
        ({"server_cpu_vs_load_data": 0.1, "dropped": 9.0}, None),
    ],
)
def test_a_ratio_that_is_worse_by_more_than_a_tenth_is_named(before: dict[str, float], line: str | None) -> None:
    fine = "no ratio is worse than in 1.2.0 (2026-01-31) by more than a tenth"
    assert compare(PLAYED, known(**before)) == [line or fine]


def test_other_sizes_and_other_servers_are_not_compared() -> None:
    assert "measured with 8,000 rows" in compare(replace(PLAYED, sizes={"rows": 9}), known(vs_orm=99.0))[0]
    assert "has no ratios" in compare(PLAYED, None)[0]
    names = {replace(PLAYED, server=each).name for each in ("10.11.2-MariaDB", "9.7.4-MySQL", "")}
    assert names == {"import_rate on MariaDB 10.11", "import_rate on MySQL 9.7", "import_rate"}


def test_what_is_written_is_what_the_next_run_is_compared_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    add_baseline(parser)
    place = ["--baseline", str(tmp_path / "baseline.json")]
    other = replace(PLAYED, server="9.7.4-MySQL")
    for measured in (PLAYED, other):
        follow_up(measured, parser.parse_args([*place, "--write-baseline"]))
    capsys.readouterr()
    follow_up(replace(PLAYED, ratios={"vs_orm": 2.0, "reimport": 0.2}), parser.parse_args(place))
    follow_up(other, parser.parse_args(place))
    slower, same = capsys.readouterr().err.splitlines()
    assert slower.startswith("import_rate on MariaDB 10.11: slower: vs_orm was 3.00 in ")
    assert same.startswith("import_rate on MySQL 9.7: no ratio is worse")


def test_a_benchmark_that_has_become_slower_still_ends_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "baseline.json"
    arguments = ["--rows", "200", "--json", "--baseline", str(place)]
    fast, slow = ({"vs_csv_reader": speed, "rows": 200} for speed in (0.6, 0.3))
    assert split_rate.main([*arguments, "--write-baseline"], lambda *_: fast) == 0
    capsys.readouterr()
    assert split_rate.main(arguments, lambda *_: slow) == 0
    printed = capsys.readouterr()
    assert "split_rate: slower: vs_csv_reader was 0.60 in" in printed.err
    assert json.loads(printed.out) == slow


def test_the_file_of_the_last_release_can_be_read() -> None:
    for entry in json.loads(FILE.read_text("utf-8")).values():
        assert entry.keys() == {"release", "measured", "sizes", "ratios"}
