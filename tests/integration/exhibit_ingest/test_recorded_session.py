"""docs/session.md is what a terminal shows of a first session with a stack elsewhere; RECORD_SESSION=1 writes it."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from sqlalchemy import URL

from exhibit_ingest.acts import status_line
from exhibit_ingest.cli.main import main
from exhibit_ingest.importing import display
from exhibit_ingest.sign_in.surroundings import Surroundings
from local.command.workspace import Workspace
from local.stack.options import REPOSITORY
from samples.volume import VolumeSpec, generate_volume
from tests.support.servers.provisioned_servers import schema_beside

pytestmark = pytest.mark.slow

PAGE = REPOSITORY / "docs" / "session.md"
OPENING = """\
# A session

What a terminal shows of a first session with a stack elsewhere: a production arrives, is checked, imported and looked
at. A test records it: addresses and times are examples.

"""
CASE = "'Smith v. Jones'"
LINES = (
    "whoami",
    f"check VOL001 --case {CASE}",
    f"import VOL001 --case {CASE}",
    "cases",
    f"documents --case {CASE} --limit 3",
    f"show DEMO0000001 --case {CASE}",
    f"tag Responsive DEMO0000001 --case {CASE}",
    f"history DEMO0000001 --case {CASE}",
    f"produce --case {CASE} --tag Responsive --prefix ACME --dry-run",
    "undo 3001 --dry-run",
)
# What differs from run to run, and an example of it.
EXAMPLES = (
    # Of two checks at once, the one that ends last has the list; the other too, if its reports are written later.
    (r"^\S+: files that no imported row or page names: \S+/reports/(?:1|1001)-\S+\n", ""),
    (r"http://127\.0\.0\.1:\d+", "https://evidence.example.com"),
    (r"\b127\.0\.0\.1-\d+", "evidence.example.com"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-11-27T09:14:00Z"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "2026-11-27 09:14"),
    (r"\b\d+(\.\d+)? s\b", "2 s"),
    (r"reports/(\d+)-[0-9a-f]{8}", r"reports/\1-5f3a90c1"),
    (r"[ \t]+$", ""),
)


def record(folder: Path, url: str, token: str) -> str:
    """The session as Markdown."""
    around = Surroundings(folder / "configuration", {"EXHIBIT_INGEST_STACK": url, "EXHIBIT_INGEST_TOKEN": token})
    parts = []
    for line in LINES:
        screen = StringIO()
        with redirect_stdout(screen), redirect_stderr(screen):
            main(shlex.split(line), around=around)
        parts.append(f"$ exhibit-ingest {line}\n{screen.getvalue()}")
    text = "\n".join(parts).replace(str(folder), "~")
    for pattern, example in EXAMPLES:
        text = re.sub(pattern, example, text, flags=re.MULTILINE)
    return f"{OPENING}```text\n{text.rstrip()}\n```\n"


def test_the_page_is_what_a_terminal_shows(tmp_path: Path, schema_url: URL, monkeypatch: pytest.MonkeyPatch) -> None:
    volume = generate_volume(VolumeSpec(name="VOL001", families=3))
    volume.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["exhibit-ingest"])
    # How many lines of progress there are depends on how busy the machine is.
    for module in (display, status_line):
        monkeypatch.setattr(module, "_SECONDS_BETWEEN_LINES", math.inf)
    with schema_beside(schema_url, "session") as database:
        workspace = Workspace(tmp_path / "state", database_url=database.render_as_string(hide_password=False))
        with workspace.stack(minimal=True) as stack:
            shown = record(tmp_path, stack.api_url, stack.tokens.issue("firm", "ada", name="ada"))
    if os.environ.get("RECORD_SESSION"):
        PAGE.write_text(shown, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == shown
