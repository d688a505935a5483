"""The benchmark of splitting says what it promises to, and fails where a pass does not find every row."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import split_rate
from benchmarks.imports.load_file import Shape
from benchmarks.split_rate import MeasuredFile, main

ROOT = Path(__file__).parents[3]
PROMISED = {"vs_csv_reader", "vs_csv_in_memory", "mb_per_s", "peak_mb", "peak_mb_small", "rows", "bytes", "runs"}


@pytest.mark.slow
def test_it_measures_both_files_in_processes_of_their_own() -> None:
    command = [sys.executable, "-m", "benchmarks.split_rate", "--json", "--rows", "3000", "--runs", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said.keys() >= PROMISED
    assert (said["rows"], said["rows_small"], said["runs"]) == (3_000, 300, 2)
    assert all(said[name] > 0 for name in PROMISED)
    assert said["vs_csv_reader"] > said["vs_csv_in_memory"], "reading and decoding take time"
    assert done.stderr.splitlines()[-2:] == ["run 1 of 2", "run 2 of 2"]


def test_rows_that_are_not_found_end_it_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def one_too_many(shape: Shape, path: Path) -> MeasuredFile:
        shape.write(path)
        return MeasuredFile(path, shape.rows + 1)

    monkeypatch.setattr(split_rate, "_write_file", one_too_many)
    assert main(["--rows", "20", "--runs", "1"]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "error: split found 20 rows of 21\n")


def test_a_pass_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MAX_FILE_BYTES", "10")
    assert main(["--rows", "20", "--runs", "1"]) == 1
    assert "the maximum is 10" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--rows", "0"), ("--runs", "x"), ("--columns", "201"), ("--seconds", "1")])
def test_wrong_usage_is_told_before_anything_is_done(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


def test_ratios_are_the_medians_of_the_runs_own(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 4_000_000)
    splits = [{"seconds": seconds, "before": 10e6, "peak": peak} for seconds, peak in ((2, 60e6), (1, 50e6), (8, 90e6))]
    reads = [{"seconds": seconds, "reading_s": seconds / 2} for seconds in (1.0, 0.6, 4.0)]
    side = MeasuredFile(path, 1, splits, reads)
    assert (side.ratio("seconds"), side.ratio("reading_s")) == (0.5, 0.25)
    assert (side.mb_per_s, side.peak_mb) == (2.0, 50.0)
