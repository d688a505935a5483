"""`preview` of a folder or zip: which files its load files name, by rule, before anything is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from tests.support.volumes.zip_bytes import Entry, build_zip

DAT = (
    b"Control Number,Native Path,Text Path\r\n"
    b"A-1,NATIVES\\1.doc,TEXT\\1.txt\r\n"
    b"A-2,natives\\2.DOC,TEXT\\2.txt\r\n"
    b"A-3,NATIVES\\3.doc,\r\n"
)
FILES = {
    "load.dat": DAT,
    "load.opt": b"A-1,VC01,IMAGES\\1.tif,Y,,,1\r\nA-2,VC01,IMAGES\\2.tif,Y,,,1\r\n",
    "VC01/NATIVES/1.doc": b"1",
    "VC01/NATIVES/2.doc": b"2",
    "VC01/IMAGES/1.tif": b"3",
    "VC01/x/TEXT/1.txt": b"4",
    "VC01/x/TEXT/2.txt": b"5",
    "VC02.zip": b"PK",
    "VC01/NATIVES/mail/attached.zip": b"PK",
}


def write(folder: Path, *, as_zip: bool) -> Path:
    """The files as a folder or zip."""
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    if not as_zip:
        return folder
    archive = folder.with_suffix(".zip")
    archive.write_bytes(build_zip([Entry(path.encode(), data) for path, data in FILES.items()]))
    return archive


def preview(source: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["preview", str(source), "--json", *options], Workspace(source.parent / "state"))
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("as_zip", [False, True])
def test_paths_are_found_by_rule_with_an_example_and_the_options_that_are_missing(
    tmp_path: Path, as_zip: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "VOL", as_zip=as_zip)
    code, document = preview(source, capsys)
    natives, texts, images = document["preview"]["paths"]
    assert (code, document["preview"]["load_files"]) == (0, ["load.dat", "load.opt"])
    example = {"rule": 9, "files": 2, "line": 2, "path": r"NATIVES\1.doc", "file": "VC01/NATIVES/1.doc"}
    assert natives["found_by_rule"] == [example]
    assert (natives["missing"], natives["first_missing"], natives["advice"]) == (1, r"NATIVES\3.doc", None)
    assert (texts["found"], texts["elsewhere"]) == (0, 2)
    assert texts["advice"] == {"strip_prefix": None, "add_prefix": "VC01/x", "files": 2}
    assert [(one["rule"], one["files"]) for one in images["found_by_rule"]] == [(8, 1)]
    assert main(["preview", str(source)], Workspace(tmp_path / "state")) == 0
    printed = capsys.readouterr().out
    assert "natives: 2 of 3 found: 2 below a folder beside the load file\n" in printed
    assert "1 native was not found: NATIVES\\3.doc. The volume has no file of this name.\n" in printed
    assert "None of the 2 texts was found, such as TEXT\\1.txt." in printed
    assert (
        "Archives inside the volume are not unpacked: VC02.zip. If they have the files, unpack them first.\n" in printed
    )
    assert "The volume has 2 of them elsewhere: use --add-prefix VC01/x.\n" in printed
    code, document = preview(source, capsys, "--add-prefix", "VC01/x", "--strip-prefix", "D:", "--strip-prefix", "E:")
    assert [one["found"] for one in document["preview"]["paths"]] == [2, 2, 1]
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("raw", "reasons"),
    [
        (b"Rar!\x1a\x07\0" + bytes(99), ["ZIP_DAMAGED", "a RAR archive, not a zip. Unpack it and send the folder"]),
        (
            build_zip([Entry(b"VOL001.zip", build_zip([Entry(b"a.dat", DAT)]))]),
            ["NO_LOAD_FILE", "Archives inside it are not unpacked: VOL001.zip", "unpack it and send its folder"],
        ),
    ],
)
def test_an_archive_that_is_not_read_is_named(
    tmp_path: Path, raw: bytes, reasons: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "VOL001.zip"
    source.write_bytes(raw)
    code, document = preview(source, capsys)
    error = f"{document['error']['code']}: {document['error']['message']}"
    assert (code, document["preview"]) == (1, None)
    assert [reason for reason in reasons if reason not in error] == []


@pytest.mark.parametrize("value", ["..", "VC01/../..", "D:\\x", "C:", "/"])
def test_a_folder_outside_of_the_volume_is_refused_before_anything_starts(
    tmp_path: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "VOL", as_zip=False)
    code, document = preview(source, capsys, "--add-prefix", value)
    assert code == 2
    assert "It must be a folder of the volume" in document["error"]["message"]
