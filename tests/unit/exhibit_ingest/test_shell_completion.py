"""What shells complete."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from exhibit_ingest.cli.main import main
from exhibit_ingest.completion_arguments import SHELLS

_COMPLETE = "import sys; sys.argv[0] = 'exhibit-ingest'; from exhibit_ingest.cli.main import main; main()"


def complete(line: str, folder: Path) -> set[str]:
    """The completions at the end of a line, as the script of a shell gets them."""
    written = folder / "completions"
    variables = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": str(written), "_ARGCOMPLETE_IFS": "\n"}
    point = {"COMP_LINE": line, "COMP_POINT": str(len(line)), "ARGCOMPLETE_USE_TEMPFILES": "1"}
    subprocess.run(
        [sys.executable, "-c", _COMPLETE], env={**os.environ, **variables, **point}, check=True, capture_output=True
    )
    return {each.strip() for each in written.read_text().splitlines()}


def test_commands_and_options_are_completed(tmp_path: Path) -> None:
    assert complete("exhibit-ingest im", tmp_path) == {"import", "imports"}
    assert {"--case", "--corrects"} <= complete("exhibit-ingest import --c", tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_names_the_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "exhibit-ingest" in capsys.readouterr().out
