"""The memory of the splitting pass of an image load file."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# Blocks of 8 MB, their lines, and the keys of a partition.
MOST_MORE_BYTES = 120_000_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["opt", "lfp"])
def test_splitting_forty_megabytes_of_pages_takes_little_memory(migrated: dict[str, str], kind: str) -> None:
    command = [sys.executable, "-m", "tests.integration.imports.images.split_once", "40", kind]
    done = subprocess.run(command, env={**os.environ, **migrated}, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    print(f"splitting 40 MB of pages: {report}")
    assert report["keys"] == report["documents"] > 150_000
    assert report["duplicates"] == 0
    assert report["peak"] - report["before"] < MOST_MORE_BYTES
