"""The profile of a chunk names every stage, and puts the functions back as they were."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.chunk_profile import STAGES, Profile, main, measure_stages
from tests.support.servers import SERVER
from tests.support.usage import assert_refused

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_it_measures_every_stage_of_both_imports() -> None:
    arguments = ("--json", "--rows", "50", "--runs", "1", "--database-url", os.environ[SERVER])
    command = [sys.executable, "-m", "benchmarks.chunk_profile", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    stages = json.loads(done.stdout)["stages"]
    assert list(stages) == ["all handlers of chunks", *(said for said, _, _ in STAGES)]
    first, again = stages["  insert exhibits"][0], stages["  compare links of unchanged rows"][2]
    assert 0 < first < stages["write"][0] < stages["all handlers of chunks"][0]
    assert again > 0


def test_nothing_stays_clocked() -> None:
    before = [getattr(owner, name) for _, owner, name in STAGES]
    profile: Profile = {}
    with measure_stages(profile):
        assert all(getattr(owner, name) is not each for (_, owner, name), each in zip(STAGES, before, strict=True))
    assert [getattr(owner, name) for _, owner, name in STAGES] == before
    assert len(profile) == len(STAGES)


def test_wrong_usage_is_told_before_anything_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused(main, ["--rows", "0"], capsys)
