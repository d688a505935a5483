"""`exhibit-ingest import` and `check` of several volumes, with a running stack that all tests of this module share."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from local.stack import LocalStack
from tests.support.volumes.served import Served, serve, use

pytestmark = pytest.mark.slow

_DOCUMENTS = """
    SELECT e.control_number, f.path, v.name FROM exhibits e JOIN exhibit_files x ON x.exhibit_id = e.id
    JOIN volume_files f ON f.id = x.file_id JOIN volumes v ON v.id = f.volume_id JOIN cases c ON c.id = e.case_id
    WHERE c.name = :case ORDER BY 1
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[tuple[LocalStack, Workspace]]:
    with serve(tmp_path_factory.mktemp("state"), schema_url, "several") as stack:
        yield stack


@pytest.fixture
def served(running: tuple[LocalStack, Workspace], capsys: pytest.CaptureFixture[str]) -> Iterator[Served]:
    with use(running, capsys) as served:
        yield served


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


def test_a_folder_of_volumes_is_imported_volume_by_volume(served: Served, tmp_path: Path) -> None:
    folder = tmp_path / "PROD"
    for number in (10, 2):
        put_volume(folder / f"VOL{number}", f"S-{number}")
    compress(put_volume(tmp_path / "VOL11", "S-11"), folder / "VOL11.zip")
    (folder / "letter.pdf").write_bytes(b"x")
    code, document = served.run("import", folder, "--case", "volumes", "--expect", "documents=4")
    assert (code, document["error"], document["not_sent"]) == (1, None, [str(folder / "letter.pdf")])
    assert document["differences"] == [{"name": "documents", "expected": 4, "found": 3}]
    found = [(each["volume"]["name"], each["imports"][0]["imported"], each["error"]) for each in document["volumes"]]
    assert found == [("VOL2", 1, None), ("VOL10", 1, None), ("VOL11", 1, None)]
    assert served.query(_DOCUMENTS, case="volumes") == [
        ("S-10", "NATIVES/1.txt", "VOL10"),
        ("S-11", "NATIVES/1.txt", "VOL11"),
        ("S-2", "NATIVES/1.txt", "VOL2"),
    ]


def test_a_summary_of_several_volumes_has_each_and_the_total(served: Served, tmp_path: Path) -> None:
    volumes = [put_volume(tmp_path / name, f"T-{name}") for name in ("VOL1", "VOL2")]
    assert main(["check", *map(str, volumes), "--case", "summary"], served.workspace) == 3
    printed = served.capsys.readouterr().out
    assert "2 volumes, in this order: VOL1, VOL2" in printed
    assert "Volume 2 of 2: VOL2" in printed
    assert "Would be in the case: 1 document, 1 native, 0 texts\n" in printed
    lines = [line.split() for line in printed.splitlines()]
    assert [line[:3] for line in lines if line and line[0] in ("VOL1", "VOL2", "total")] == [
        ["VOL1", "1", "2"],
        ["VOL2", "1", "2"],
        ["total", "2", "4"],
    ]
    assert served.query(_DOCUMENTS, case="summary") == []


def test_a_case_with_a_similar_name_ends_the_command_before_anything_is_sent(served: Served, tmp_path: Path) -> None:
    volumes = [put_volume(tmp_path / name, f"U-{name}") for name in ("VOL1", "VOL2")]
    assert served.run("import", volumes[0], "--case", "Smith v. Jones")[0] == 3
    code, document = served.run("import", *volumes, "--case", "Smith v. Jonse")
    assert (code, document["volumes"]) == (2, [])
    assert "Smith v. Jones" in document["error"]
    assert served.list_volumes("Smith v. Jonse") == []
