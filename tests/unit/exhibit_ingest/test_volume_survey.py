"""A folder or zip that cannot be a volume is refused before anything starts, with what to do."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.cli.main import main
from exhibit_ingest.importing.summary import build_console
from exhibit_ingest.volumes.output import build_figures, print_figures
from exhibit_ingest.volumes.several import SeveralVolumes, VolumeResult, list_volumes
from exhibit_ingest.volumes.survey import survey_volume
from local.command.workspace import Workspace

DAT = b"Control Number\r\nA-1\r\n"


def put(folder: Path, *paths: str) -> Path:
    """A folder of files."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(DAT)
    return folder


def with_link(folder: Path) -> Path:
    (put(folder, "a.dat") / "NATIVES").symlink_to("/etc")
    return folder


def with_pipe(folder: Path) -> Path:
    os.mkfifo(put(folder, "a.dat") / "1.txt")
    return folder


def with_a_name_of_bytes(folder: Path) -> Path:
    (put(folder, "a.dat") / os.fsdecode(b"\xff.txt")).write_bytes(b"x")
    return folder


def not_a_zip(folder: Path) -> Path:
    return put(folder, "VOL001.zip") / "VOL001.zip"


def empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("build", "reasons"),
    [
        (
            lambda folder: put(folder, "NATIVES/1.pdf", "x/y/a.dat"),
            ["NO_LOAD_FILE", "Other places have: x/y/a.dat.", "Use --load-file with the path of the load file"],
        ),
        (
            lambda folder: put(folder, "VOL001.opt", "VOL001.rar"),
            ["NO_LOAD_FILE", "not unpacked: VOL001.rar", "--image-load-file to import an OPT"],
        ),
        (empty, ["VOL001 has no files", "Give another folder"]),
        (with_link, ["NATIVES is a link", "put the file or folder itself in its place"]),
        (with_pipe, ["1.txt is not a file"]),
        (with_a_name_of_bytes, ["\\udcff.txt has", "bytes that are not UTF-8 in its name"]),
        (lambda folder: put(folder, "a.dat", "a\\b.txt"), ["a\\b.txt has a backslash"]),
        (lambda folder: put(folder, "a.dat", "TEXT/ /1.txt"), ["TEXT/ /1.txt has a blank name"]),
        (not_a_zip, ["VOL001.zip is not a complete zip", "Make the zip again"]),
    ],
)
def test_what_cannot_be_a_volume_is_refused_before_anything_starts(
    tmp_path: Path, build: Callable[[Path], Path], reasons: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path / "state")
    command = ["import", str(build(tmp_path / "VOL001")), "--case", "c"]
    assert main(command, workspace) == 1
    printed = capsys.readouterr()
    assert [reason for reason in reasons if reason not in printed.err] == []
    assert main([*command, "--json"], workspace) == 1
    document = json.loads(capsys.readouterr().out)
    nothing = dict.fromkeys(("volume", "pages", "files", "found"))
    assert document == {**nothing, "imports": [], "error": document["error"]}
    assert f"exhibit-ingest: error: {document['error']}\n" == printed.err
    assert not workspace.state_dir.exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["VOL001", "a.dat"], "is a folder or zip; check it with a command of its own"),
        (["VOL001", "--zip-names", "cp932"], "--zip-names is for a zip"),
        (["a.dat", "--strip-prefix", "D:"], "--strip-prefix is only for a folder or zip"),
        (["gone.zip"], "does not exist"),
        (["VOL001", "VOL002", "--load-file", "a.dat"], "name files of one volume"),
    ],
)
def test_wrong_usage_of_volumes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    reason: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put(tmp_path, "VOL001/a.dat", "VOL002/a.dat", "a.dat")
    monkeypatch.chdir(tmp_path)
    assert main(["check", *arguments, "--case", "c"], Workspace(tmp_path / "state")) == 2
    assert reason in capsys.readouterr().err


def test_of_several_volumes_none_is_sent_if_one_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = put(tmp_path / "PROD", "VOL001/DATA/a.dat", "VOL002/a.dat", "letter.pdf")
    (folder / "VOL003.zip").write_bytes(b"cut off")
    workspace = Workspace(tmp_path / "state")
    assert main(["import", str(folder), "--case", "c"], workspace) == 1
    printed = capsys.readouterr().err
    assert "VOL003.zip is not a complete zip" in printed
    assert "Nothing was imported of the 3 volumes." in printed
    assert main(["import", str(folder), "--case", "c", "--json"], workspace) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["volumes"], document["not_sent"]) == ([], [str(folder / "letter.pdf")])
    assert "VOL003.zip is not a complete zip" in document["error"]
    assert not workspace.state_dir.exists()


def run_several(
    folder: Path, codes: dict[str, int], capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> tuple[int, str]:
    """The exit code and the output of volumes that end with these codes."""

    def run_one(path: Path, add: Callable[[VolumeResult], None]) -> None:
        add(VolumeResult(abs(codes[path.name]), {"volume": path.name}, 1, [1, 1, 0, 0, 0]))
        if codes[path.name] < 0:
            raise KeyboardInterrupt

    found = list_volumes([put(folder, *(f"{name}/a.dat" for name in codes))], {})
    code = SeveralVolumes(found, {}, run_one, as_json).run(build_console(sys.stdout))
    return code, capsys.readouterr().out


@pytest.mark.parametrize(("codes", "code"), [([0, 0, 0], 0), ([0, 3, 0], 3), ([0, 1, 3], 1), ([1, 0, 0], 1)])
def test_a_volume_that_fails_does_not_keep_the_next_one_from_its_import(
    tmp_path: Path, codes: list[int], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    by_name = dict(zip(("V1", "V2", "V10"), codes, strict=True))
    found, printed = run_several(tmp_path, by_name, capsys, as_json=False)
    assert found == code
    assert [line for line in printed.splitlines() if line.startswith("Volume")] == [
        "Volume 1 of 3: V1",
        "Volume 2 of 3: V2",
        "Volume 3 of 3: V10",
    ]
    assert ["total", "3", "3", "3", "0", "0", "0"] in [line.split() for line in printed.splitlines()]
    found, printed = run_several(tmp_path, by_name, capsys, as_json=True)
    assert (found, json.loads(printed)) == (
        code,
        {"volumes": [{"volume": "V1"}, {"volume": "V2"}, {"volume": "V10"}], "not_sent": [], "error": None},
    )


def test_an_interruption_says_which_volumes_were_not_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt) as interrupted:
        run_several(tmp_path, {"V1": 0, "V2": -1, "V3": 0, "V4": 0}, capsys, as_json=True)
    assert interrupted.value.__notes__ == ["Not begun: V3, V4."]
    assert json.loads(capsys.readouterr().out)["volumes"] == [{"volume": "V1"}, {"volume": "V2"}]


@pytest.mark.parametrize("settings", [{"loadFile": "x/y/a.dat"}, {"imageLoadFile": "x/VOL001.opt"}])
def test_a_load_file_that_is_chosen_may_be_anywhere(tmp_path: Path, settings: dict[str, str]) -> None:
    folder = put(tmp_path / "VOL001", "x/y/a.dat", "x/VOL001.opt", "NATIVES/1.txt", "more.7z")
    source = survey_volume(folder, settings)
    assert (source.name, source.size, source.archives) == ("VOL001", 4 * len(DAT), ["more.7z"])


def test_figures_are_those_of_both_imports_and_unreferenced_files_are_counted_once() -> None:
    names = ("nativesLinked", "nativesMissing", "textsLinked", "textsMissing", "hashMismatches")
    counts: dict[str, int | None] = {name: place for place, name in enumerate(names, 1)}
    left = {"hashesNotCompared": [{"column": "MD5 Hash", "hashes": 3}]}
    of_rows: dict[str, Any] = {**counts, **left}
    whole = {"unreferenced": 6, "ofRejectedRows": 7}
    rows = {"files": of_rows | dict.fromkeys(whole), "pages": None}
    images = {"files": dict.fromkeys(names, 0) | {"hashesNotCompared": [], **whole}, "pages": None}
    members = ("natives_linked", "natives_missing", "texts_linked", "texts_missing", "hash_mismatches")
    files: dict[str, Any] = dict(zip((*members, "unreferenced", "of_rejected_rows"), range(1, 8), strict=True))
    expected = {"volume": None, "pages": None, "files": {**files, "hashes_not_compared": {"MD5 Hash": 3}}}
    assert build_figures(None, [rows, images]) == expected
    assert build_figures(None, [{**rows, "files": of_rows | whole}, images]) == expected


def test_hashes_that_were_not_compared_are_printed_and_are_not_counted_as_matching() -> None:
    names = ("nativesLinked", "nativesMissing", "textsLinked", "textsMissing")
    whole = {"unreferenced": 0, "ofRejectedRows": 0}
    left = {"hashMismatches": None, "hashesNotCompared": [{"column": "MD5 Hash", "hashes": 3}], **whole}
    figures = build_figures(None, [{"files": {**dict.fromkeys(names, 3), **left}, "pages": None}])
    assert figures["files"]["hash_mismatches"] is None
    output = io.StringIO()
    print_figures(figures, build_console(output))
    assert output.getvalue() == "Column MD5 Hash: 3 hashes were not compared. To compare them, use --verify-hashes.\n"


@pytest.mark.parametrize("is_check", [False, True])
def test_a_volume_whose_paths_match_no_file_is_imported_again_with_an_overlay(is_check: bool) -> None:
    names = ("nativesLinked", "textsLinked", "textsMissing", "hashMismatches", "unreferenced", "ofRejectedRows")
    files = {**dict.fromkeys(names, 0), "nativesMissing": 2, "hashesNotCompared": []}
    output = io.StringIO()
    print_figures(build_figures(None, [{"files": files, "pages": None}]), build_console(output), is_check=is_check)
    assert "No file of a row was found." in output.getvalue()
    assert ("Then import it again with --mode append_overlay." in output.getvalue()) == (not is_check)
