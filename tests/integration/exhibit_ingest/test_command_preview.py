"""`exhibit-ingest preview` over HTTP: what is printed, the exit codes, and how little of a large file is sent."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from core.imports.preview import build_preview
from core.load_file.options import parse_options
from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from local.stack.served_stack import publish_stack
from shell.imports.rows.preview_rows import make_converter
from tests.support.imports.declared_limits import declared_limits
from tests.support.servers.provisioned_servers import schema_beside

HEADER = b"Control Number,Title,Date Sent,Custodian\r\n"
ROW = b'A-%07d,"Plan",13/02/2019,Smith;Jones\r\n'
pytestmark = pytest.mark.slow

PREVIEWED_BYTES = 8_000_000
Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(scope="module")
def workspace(schema_url: URL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The workspace of a stack that runs as that of a `serve`."""
    with schema_beside(schema_url, "previews") as url:
        found = Workspace(tmp_path_factory.mktemp("previews"), database_url=url.render_as_string(hide_password=False))
        with found.stack(minimal=True) as stack, publish_stack(stack, os.getpid()):
            yield found


@pytest.fixture
def run(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a preview; returns its exit code and its JSON."""

    def execute(*arguments: str) -> tuple[int, dict[str, Any]]:
        code = main(["preview", *arguments, "--json"], workspace)
        return code, json.loads(capsys.readouterr().out)

    return execute


def write(folder: Path, data: bytes, name: str = "load.csv") -> str:
    """A file with the data; its path."""
    (folder / name).write_bytes(data)
    return str(folder / name)


def test_the_json_is_the_preview_of_the_import(tmp_path: Path, run: Run) -> None:
    data = HEADER + ROW % 1 + ROW % 2
    file = write(tmp_path, data)
    code, printed = run(file)
    found = printed["preview"]
    assert (code, printed["file"], printed["error"]) == (0, file, None)
    own = asdict(build_preview(data, len(data), parse_options({}), make_converter(declared_limits)))
    expected = json.loads(json.dumps(own))
    assert {name: found[name] for name in expected if name != "detection"} == {
        name: value for name, value in expected.items() if name != "detection"
    }
    assert found["detection"]["date_order"]["value"] == "DMY"


def test_the_options_are_those_of_an_import(tmp_path: Path, run: Run) -> None:
    file = write(tmp_path, b"Doc\tName\r\n1|2\tx\r\n")
    mapping = write(tmp_path, b'{"columns": {"1": "control_number", "2": "title"}, "mode": "append"}', "mapping.json")
    code, printed = run(file, "--mapping", mapping, "--delimiter", "tab", "--qualifier", "none")
    assert code == 0
    columns = [(column["field"], column["why"]) for column in printed["preview"]["columns"]]
    assert columns == [("control_number", "given"), ("title", "given")]
    assert printed["preview"]["detection"]["delimiter"]["certainty"] == "given"
    code, printed = run(file, "--mapping", write(tmp_path, b"[]", "wrong.json"))
    assert (code, "must be a JSON object" in printed["error"]["message"]) == (2, True)


def test_a_wrong_format_names_its_argument_and_columns_are_warned_of(
    tmp_path: Path, run: Run, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, HEADER + b"A-1,Plan,37032,Smith|Jones\r\nA-2,Plan,N/A,\r\n")
    code, printed = run(file)
    found = [(each["code"], each["column"]) for each in printed["preview"]["warnings"]]
    words = ("NO_DATE_STATED", "Date Sent")
    assert (code, found) == (0, [("COLUMN_WITHOUT_EFFECT", "Date Sent"), words, ("OTHER_SEPARATOR", "Custodian")])
    assert main(["preview", file], workspace) == 0
    assert "Date Sent: COLUMN_WITHOUT_EFFECT: Date Sent is read as date_sent" in capsys.readouterr().out
    code, printed = run(file, "--date-format", "date_sent=excel", "--multi-value-separator", "pipe")
    columns = printed["preview"]["columns"]
    assert columns[2]["samples"][0]["value"] == "2001-05-21 00:00:00"
    assert columns[3]["samples"][0]["value"] == ["Smith", "Jones"]
    assert main(["preview", file, "--date-format", "date_sent=%B %Y"], workspace) != 0
    assert "date" in capsys.readouterr().err


def test_a_file_that_cannot_be_imported_is_a_failure_with_its_columns_and_what_to_do(
    tmp_path: Path, run: Run, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, b"Foo,B\x7far\r\n1,2\r\n")
    code, printed = run(file)
    assert (code, printed["preview"], printed["error"]["code"]) == (1, None, "NO_ID_COLUMN")
    assert main(["preview", file], workspace) == 1
    output = capsys.readouterr().err
    assert [part for part in ("NO_ID_COLUMN", "--mapping", "Foo") if part not in output] == []
    assert "\x7f" not in output
    assert run(write(tmp_path, b"", "empty.dat"))[1]["error"]["code"] == "EMPTY_FILE"


def test_an_image_load_file_is_shown_with_its_pages(
    tmp_path: Path, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, b"A1,VOL001,IMAGES\\A1.tif,Y,,,1\r\nA2,VOL001,IMAGES\\A2.tif,,,,\r\n")
    assert main(["preview", file], workspace) == 0
    printed = capsys.readouterr().out
    assert "OPT file with 2 pages of 1 documents" in printed
    assert "IMAGES\\A2.tif" in printed


@pytest.mark.parametrize("arguments", [["nosuch.dat"], [__file__, "--delimiter", "nonsense"], [], [__file__, "--case"]])
def test_wrong_usage_is_one_json_object_too(arguments: list[str], run: Run) -> None:
    code, printed = run(*arguments)
    assert (code, printed["preview"]) == (2, None)
    assert printed["error"]["message"]


def test_the_tables_show_findings_columns_and_rows(
    tmp_path: Path, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = b"".join(ROW % number for number in range(50))
    file = write(tmp_path, b"\xef\xbb\xbf" + HEADER + rows + b",\x7fno id,,\r\n")
    assert main(["preview", file], workspace) == 0
    printed = capsys.readouterr().out
    for part in ("all of them read; 51 rows", "DMY", "comma (,)", "date_sent", "A-0000019", "Columns (4)"):
        assert part in printed
    assert "\x7f" not in printed
    assert "A-0000020" not in printed


def test_only_the_first_bytes_of_a_large_file_are_sent(
    tmp_path: Path, run: Run, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.csv"
    path.write_bytes(HEADER + b"".join(ROW % number for number in range(PREVIEWED_BYTES // len(ROW % 1) + 1)))
    # No rows follow: whatever reads on meets NUL bytes.
    os.truncate(path, 10_000_000_000)
    code, printed = run(str(path))
    found = printed["preview"]
    assert (code, found["provisional"], found["bytes_read"], found["size"]) == (0, True, PREVIEWED_BYTES, 10**10)
    assert main(["preview", str(path)], workspace) == 0
    assert "Provisional: the rest of the file can change encoding, date order" in capsys.readouterr().out


def test_a_folder_needs_no_running_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "VOL").mkdir()
    write(tmp_path / "VOL", HEADER + ROW % 1)
    assert main(["preview", str(tmp_path / "VOL")], Workspace(tmp_path / "state")) == 0
    assert "load.csv" in capsys.readouterr().out
    assert not (tmp_path / "state").exists()
