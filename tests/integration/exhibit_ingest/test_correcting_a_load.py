"""The example of docs/correcting-a-load.md runs as it stands there, and prints what it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from exhibit_ingest.exit_codes import DONE, REJECTED
from local.stack import LocalStack, StackOptions
from local.stack.options import REPOSITORY
from local.stack.served_stack import publish_stack
from local.time_scale import TimeScale
from tests.integration.exhibit_ingest.test_readme_session import folder_like_a_clone, run_script

_PAGE = REPOSITORY / "docs" / "correcting-a-load.md"


def steps() -> list[tuple[str, list[str]]]:
    """The scripts of the example, each with the lines that it is said to print."""
    example = _PAGE.read_text(encoding="utf-8").partition("\n## An example\n")[2]
    found = re.findall(r"^```sh\n(.*?)^```\n\n```\n(.*?)^```$", example, re.DOTALL | re.MULTILINE)
    return [(script, [line for line in shown.splitlines() if line]) for script, shown in found]


def missing(shown: list[str], printed: str) -> list[str]:
    """The lines that were not printed, in this order; `…` stands for anything, and the widths of tables are free."""
    rest = iter([" ".join(line.split()) for line in printed.replace("\ufeff", "").splitlines()])
    patterns = {line: ".*".join(map(re.escape, " ".join(line.split()).split("…"))) for line in shown}
    return [line for line in shown if not any(re.fullmatch(patterns[line], each) for each in rest)]


@pytest.mark.slow
def test_the_example_of_a_correction_prints_what_the_page_shows(tmp_path: Path, schema: str) -> None:
    options = StackOptions(workers=1, time_scale=TimeScale(0.05, shortest_timeout=60), database_url=schema)
    with LocalStack(tmp_path / "clone" / ".local", options) as ours, publish_stack(ours, os.getpid()):
        clone = folder_like_a_clone(tmp_path / "clone", ours.state_dir, schema)
        for script, shown in steps():
            ended = run_script(script, clone)
            assert missing(shown, ended.stdout) == [], ended.stdout + ended.stderr
            # The dry run is the one script that ends with an undo which keeps something.
            assert ended.returncode == (REJECTED if "--dry-run" in script else DONE), script


def test_the_example_shows_what_each_of_its_scripts_prints() -> None:
    found = steps()
    assert len(found) == _PAGE.read_text(encoding="utf-8").count("\n```sh\n") > 5
    assert missing(["b …", "a"], "a\nb  1\n") == ["a"]
