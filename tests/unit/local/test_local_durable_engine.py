"""The clock of durable executions is one clock, and their engine is quiet."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

import pytest

from local.durable_engine import ScaledClock, log_to, unlog
from local.time_scale import TimeScale


def test_a_scaled_clock_runs_faster_by_as_much_as_its_waits_are_shorter() -> None:
    clock = ScaledClock(TimeScale(0.001))
    began = clock.now()
    seconds = clock.arm(began + timedelta(hours=1))
    assert 3.5 < seconds <= 3.6
    assert clock.arm(began) == 0.0
    assert clock.now() > began


def test_a_clock_that_is_not_scaled_is_the_real_one() -> None:
    clock = ScaledClock(TimeScale())
    assert 59 < clock.arm(clock.now() + timedelta(minutes=1)) <= 60


def test_what_the_engine_warns_of_goes_to_its_file_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    engine = logging.getLogger("aws_durable_execution_sdk_python_testing.executor")
    handler = log_to(tmp_path / "durable.log")
    engine.warning("told")
    unlog(handler)
    engine.warning("too late")
    assert "told" in (tmp_path / "durable.log").read_text()
    assert capfd.readouterr() == ("", "")
