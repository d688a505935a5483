"""`exhibit-ingest import` and `check` of several volumes, each command with a stack of its own."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from exhibit_ingest.cli.main import main
from exhibit_ingest.cli.workspace import Workspace

_DOCUMENTS = """
    SELECT e.control_number, f.path, v.name FROM exhibits e JOIN exhibit_files x ON x.exhibit_id = e.id
    JOIN volume_files f ON f.id = x.file_id JOIN volumes v ON v.id = f.volume_id ORDER BY 1
"""


@pytest.fixture
def workspace(tmp_path: Path, schema: str) -> Workspace:
    return Workspace(tmp_path / "state", database_url=schema)


def list_documents(workspace: Workspace) -> list[tuple[object, ...]]:
    engine = create_engine(workspace.database_url or "")
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(_DOCUMENTS))]
    engine.dispose()
    return rows


def put_volume(folder: Path, key: str) -> Path:
    """A volume of one document with a native, and a row that is rejected."""
    (folder / "DATA").mkdir(parents=True)
    (folder / "NATIVES").mkdir()
    (folder / "NATIVES" / "1.txt").write_text(key)
    (folder / "DATA" / "load.dat").write_text(f"Control Number,Native Link\n{key},NATIVES/1.txt\n,NATIVES/1.txt\n")
    return folder


def compress(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w") as written:
        for file in sorted(folder.rglob("*")):
            written.write(file, file.relative_to(folder))


@pytest.mark.slow
def test_a_folder_of_volumes_is_imported_volume_by_volume(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "PROD"
    for number in (10, 2):
        put_volume(folder / f"VOL{number}", f"S-{number}")
    compress(put_volume(tmp_path / "VOL11", "S-11"), folder / "VOL11.zip")
    (folder / "letter.pdf").write_bytes(b"x")
    code = main(["import", str(folder), "--case", "several", "--json"], workspace)
    document = json.loads(capsys.readouterr().out)
    assert (code, document["error"], document["not_sent"]) == (3, None, [str(folder / "letter.pdf")])
    found = [(each["volume"]["name"], each["imports"][0]["imported"], each["error"]) for each in document["volumes"]]
    assert found == [("VOL2", 1, None), ("VOL10", 1, None), ("VOL11", 1, None)]
    assert list_documents(workspace) == [
        ("S-10", "NATIVES/1.txt", "VOL10"),
        ("S-11", "NATIVES/1.txt", "VOL11"),
        ("S-2", "NATIVES/1.txt", "VOL2"),
    ]


@pytest.mark.slow
def test_a_summary_of_several_volumes_has_each_and_the_total(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    volumes = [put_volume(tmp_path / name, f"T-{name}") for name in ("VOL1", "VOL2")]
    assert main(["check", *map(str, volumes), "--case", "several"], workspace) == 3
    printed = capsys.readouterr().out
    assert "2 volumes, in this order: VOL1, VOL2" in printed
    assert "Volume 2 of 2: VOL2" in printed
    lines = [line.split() for line in printed.splitlines()]
    assert [line[:3] for line in lines if line and line[0] in ("VOL1", "VOL2", "total")] == [
        ["VOL1", "1", "2"],
        ["VOL2", "1", "2"],
        ["total", "2", "4"],
    ]
    assert list_documents(workspace) == []
