"""A running stack of this machine with one small case, and commands beside it.

The case has an e-mail with an attachment, a native that a system would run, one that its volume lacks, a text in cells,
properties that two files have, and a hostile title.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import URL

from exhibit_ingest.cli.main import main
from exhibit_ingest.session.machine import MachineWish
from exhibit_ingest.sign_in.surroundings import Surroundings
from local.command.workspace import Workspace
from local.stack import LocalStack
from local.stack.served_stack import publish_stack
from tests.support.servers.provisioned_servers import schema_beside

CASE = "Smith v. Jones"
HOSTILE = "\x1b[2J\u202eBoard plan"
NATIVE = b"From: ada@example.com\r\n\r\nThe plan.\r\n"
CELLS = "A text\nof the load file, é"
_HEADER = (
    *("DOCID", "BEGBATES", "ENDBATES", "PARENT_DOCID", "Custodian", "Tags", "Title", "File Name", "Document Date"),
    *("Native Link", "Extracted Text", "Author", "SHA256"),
)
_ROWS = (
    (
        *("A-1", "X0001", "X0002", "", "Ada Lovelace", "Hot", HOSTILE, "plan.eml", "2019-12-31"),
        *("N\\1.eml", "", "Ada", hashlib.sha256(NATIVE).hexdigest()),
    ),
    ("A-2", "X0003", "X0003", "A-1", "Ada Lovelace", "", "Plan", "plan.exe", "", "N\\2.exe", "", "", ""),
    ("A-3", "X0004", "X0004", "", "Bob Ray", "Hot\\Really Hot", "Site", "", "", "N\\3.pdf", "", "", ""),
    ("=A-4", "", "", "", "Bob Ray", "", "Minutes", "", "2020-02-01T10:30:00Z", "", CELLS, "=1+1", ""),
)
_OPT = "X0001,VOL1,I\\1.tif,Y,,,2\nX0002,VOL1,I\\2.tif,,,,\n"


@dataclass
class StockedStack:
    """A stack with the case; commands use it as that of a `serve`."""

    stack: LocalStack
    workspace: Workspace
    folder: Path

    def run(self, capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
        """The exit code of a command about the case, and what it printed, the errors last."""
        code = main([*map(str, arguments), "--case", CASE], self.workspace)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    def run_json(self, capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, Any]:
        """The exit code of a command about the case, and its JSON."""
        code, printed = self.run(capsys, *arguments, "--json")
        return code, json.loads(printed)

    def run_elsewhere(self, capsys: pytest.CaptureFixture[str], token: str, *arguments: str) -> tuple[int, str]:
        """As `run`, by someone who has the address of the stack and a token alone."""
        around = Surroundings(folder=self.folder / "elsewhere", environment={"EXHIBIT_INGEST_TOKEN": token})
        code = main([*arguments, "--case", CASE, "--stack", self.stack.api_url], None, around)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    def issue_token(self, role: str) -> str:
        """A token for a user of this role."""
        return self.stack.tokens.issue("local", "eve", 3600, roles=(role,))

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The response of the API to a user of the case."""
        from exhibit_ingest.client.api import Api

        with self.workspace.run(MachineWish("local", "ada")) as running, Api(running.url, running.tokens) as api:
            return api.request(method, path, body)


@contextmanager
def run_stocked_stack(schema_url: URL, folder: Path) -> Iterator[StockedStack]:
    """Run the stack for the block, with a schema of its own."""
    with schema_beside(schema_url, "stocked") as url:
        workspace = Workspace(folder / "state", database_url=url.render_as_string(hide_password=False))
        with workspace.stack(minimal=True, workers=2) as stack, publish_stack(stack, os.getpid()):
            volume = str(_write_volume(folder / "VOL1"))
            assert main(["import", volume, "--case", CASE, "--user", "ada"], workspace) == 0
            yield StockedStack(stack, workspace, folder)


def _write_volume(folder: Path) -> Path:
    (folder / "N").mkdir(parents=True)
    (folder / "I").mkdir()
    lines = ["\x14".join(f"þ{cell.replace(chr(10), '®')}þ" for cell in row) for row in (_HEADER, *_ROWS)]
    (folder / "VOL1.dat").write_text("\r\n".join([*lines, ""]), encoding="utf-8-sig", newline="")
    (folder / "VOL1.opt").write_text(_OPT, encoding="ascii")
    (folder / "N" / "1.eml").write_bytes(NATIVE)
    (folder / "N" / "2.exe").write_bytes(b"MZ")
    image = io.BytesIO()
    Image.new("1", (8, 8)).save(image, "TIFF")
    (folder / "I" / "1.tif").write_bytes(image.getvalue())
    return folder
