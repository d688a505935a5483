"""`exhibit-ingest preview`: what is printed, the exit codes, and how little of a large file is read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.load_file.dialect import HEAD_BYTES
from exhibit_ingest.cli.main import main
from exhibit_ingest.preview.preview_file import read_preview
from exhibit_ingest.program import format_command

HEADER = b"Control Number,Title,Date Sent,Custodian\r\n"
ROW = b'A-%07d,"Plan",13/02/2019,Smith;Jones\r\n'
LOADED = "import sys; from exhibit_ingest.cli.main import main; main(); print(sorted(sys.modules), file=sys.stderr)"
HEAVY = {"sqlalchemy", "boto3", "moto", "pymysql", "rich"}


def write(folder: Path, data: bytes, name: str = "load.csv") -> str:
    """A file with the data; its path."""
    (folder / name).write_bytes(data)
    return str(folder / name)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of the command."""
    code = main(["preview", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_preview_is_printed_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, HEADER + ROW % 1 + ROW % 2)
    code, printed = run(capsys, file)
    found = printed["preview"]
    assert (code, printed["file"], printed["error"]) == (0, file, None)
    assert (found["provisional"], found["bytes_read"], found["rows_read"]) == (False, len(HEADER + ROW % 1) * 2 - 42, 2)
    assert found["detection"]["date_order"]["value"] == "DMY"
    dates = found["columns"][2]
    assert (dates["field"], dates["why"], dates["distinct"]) == ("date_sent", "synonym", 1)
    assert dates["samples"] == [{"text": "13/02/2019", "value": "2019-02-13 00:00:00", "code": None}]


def test_the_options_are_those_of_an_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, b"Doc\tName\r\n1|2\tx\r\n")
    mapping = write(tmp_path, b'{"columns": {"1": "control_number", "2": "title"}}', "mapping.json")
    code, printed = run(capsys, file, "--mapping", mapping, "--delimiter", "tab", "--qualifier", "none")
    assert code == 0
    columns = [(column["field"], column["why"]) for column in printed["preview"]["columns"]]
    assert columns == [("control_number", "given"), ("title", "given")]
    assert printed["preview"]["detection"]["delimiter"]["certainty"] == "given"


def test_formats_and_separators_are_options_and_columns_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, HEADER + b"A-1,Plan,37032,Smith|Jones\r\nA-2,Plan,N/A,\r\n")
    code, printed = run(capsys, file)
    found = [(each["code"], each["column"]) for each in printed["preview"]["warnings"]]
    words = ("NO_DATE_STATED", "Date Sent")
    assert (code, found) == (*(0, [("COLUMN_WITHOUT_EFFECT", "Date Sent"), words, ("OTHER_SEPARATOR", "Custodian")]),)
    assert main(["preview", file]) == 0
    assert "Date Sent: COLUMN_WITHOUT_EFFECT: Date Sent is read as date_sent" in capsys.readouterr().out
    given = ("--date-format", "date_sent=excel", "--multi-value-separator", "pipe")
    code, printed = run(capsys, file, *given)
    assert [(each["code"], each["column"]) for each in printed["preview"]["warnings"]] == [words]
    columns = printed["preview"]["columns"]
    assert columns[2]["samples"][0]["value"] == "2001-05-21 00:00:00"
    assert columns[3]["samples"][0]["value"] == ["Smith", "Jones"]
    assert printed["preview"]["detection"]["date_order"] == {
        "value": "excel",
        "why": "The option says so.",
        "certainty": "given",
        "may_change": False,
    }
    assert main(["preview", file, "--date-format", "date_sent=%B %Y"]) == 2
    assert "--date-format" in capsys.readouterr().err


def test_a_file_that_cannot_be_imported_is_a_failure_with_its_columns_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, b"Foo,B\x7far\r\n1,2\r\n")
    code, printed = run(capsys, file)
    assert (code, printed["preview"], printed["error"]["code"]) == (1, None, "NO_ID_COLUMN")
    assert main(["preview", file]) == 1
    output = capsys.readouterr().err
    assert all(
        part in output
        for part in (
            "NO_ID_COLUMN",
            "options are set in a JSON file that --mapping names",
            '{"columns": {"<name or number>": "control_number"}}',
            "Foo",
        )
    )
    assert "\x7f" not in output


def test_an_image_load_file_is_followed_by_the_command_that_imports_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, b"A1,VOL001,IMAGES\\A1.tif,Y,,,1\r\n")
    assert main(["preview", file]) == 1
    printed = capsys.readouterr().err
    assert f"{Path(file).name} cannot be previewed: UNSUPPORTED_FORMAT: " in printed
    assert printed.endswith(f"To import it: {format_command('import', file, '--case', 'NAME')}\n")


@pytest.mark.parametrize("arguments", [["nosuch.dat"], [__file__, "--delimiter", "nonsense"], [], [__file__, "--case"]])
def test_wrong_usage_is_one_json_object_too(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = run(capsys, *arguments)
    assert (code, printed["preview"]) == (2, None)
    assert printed["error"]["message"]


def test_the_tables_show_findings_columns_and_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = b"".join(ROW % number for number in range(50))
    file = write(tmp_path, b"\xef\xbb\xbf" + HEADER + rows + b",\x7fno id,,\r\n")
    assert main(["preview", file]) == 0
    printed = capsys.readouterr().out
    for part in ("all of them read; 51 rows", "DMY", "comma (,)", "date_sent", "A-0000019", "Columns (4)"):
        assert part in printed
    assert "\x7f" not in printed
    assert "A-0000020" not in printed


def test_only_the_first_bytes_of_a_large_file_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "large.csv"
    path.write_bytes(HEADER + b"".join(ROW % number for number in range(HEAD_BYTES // len(ROW % 1) + 1)))
    # No rows follow: whatever reads on meets NUL bytes.
    os.truncate(path, 10_000_000_000)
    before = _count_read_bytes()
    found = read_preview(path, {})
    assert _count_read_bytes() - before < HEAD_BYTES + 1_000_000
    assert (found.provisional, found.bytes_read, found.size) == (True, HEAD_BYTES, 10_000_000_000)
    assert found.may_change == ["encoding", "date_order"]
    assert found.rows_counted == 10_000
    assert main(["preview", str(path)]) == 0
    assert "Provisional: the rest of the file can change encoding, date order" in capsys.readouterr().out


def _count_read_bytes() -> int:
    """The bytes that this process has read by system calls."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["rchar"])


def test_a_preview_loads_neither_a_database_nor_a_server(tmp_path: Path) -> None:
    file = write(tmp_path, HEADER + ROW % 1)
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "preview", file, "--json"], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stderr.strip("[]\n").replace("'", "").split(", ")}
    assert "core" in loaded
    assert loaded & HEAVY == set()
