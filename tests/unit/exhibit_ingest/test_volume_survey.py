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
from exhibit_ingest.cli.summary import build_console
from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.volumes.inventory import Upload, UploadMemory, identify_content, list_files
from exhibit_ingest.volumes.output import build_figures, print_figures
from exhibit_ingest.volumes.several import SeveralVolumes, VolumeResult, list_volumes
from tests.support.volumes.zip_bytes import ENCRYPTED, Entry, build_zip

DAT = b"Control Number\r\nA-1\r\n"


def put(folder: Path, *paths: str) -> Path:
    """A folder of files."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(DAT)
    return folder


def put_zip(folder: Path, *entries: Entry) -> Path:
    """A zip beside the folder."""
    folder.mkdir()
    archive = folder / "VOL001.zip"
    archive.write_bytes(build_zip([Entry(b"a.dat", DAT), *entries]))
    return archive


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
            lambda folder: put(folder, "DATA/a.dat", "DATA/b.dat"),
            ["SEVERAL_LOAD_FILES", "DATA/a.dat (21 bytes), DATA/b.dat (21 bytes)", "Set --load-file to"],
        ),
        (
            lambda folder: put(folder, "DATA/a.dat", "DATA/a.opt", "DATA/b.lfp"),
            ["SEVERAL_LOAD_FILES", "DATA/a.opt", "DATA/b.lfp", "Set --image-load-file to"],
        ),
        (lambda folder: put(folder, "NATIVES/1.pdf", "x/y/a.dat"), ["NO_LOAD_FILE", "x/y/a.dat", "Set --load-file to"]),
        (empty, ["has no files", "give the folder of a production"]),
        (with_link, ["VOL001/NATIVES is a link", "put the file or folder itself in its place"]),
        (with_pipe, ["VOL001/1.txt is not a regular file"]),
        (with_a_name_of_bytes, ["/VOL001/\\udcff.txt' cannot be sent", "rename it"]),
        (lambda folder: put(folder, "a.dat", "a\\b.txt"), ["a\\b.txt' cannot be sent", "rename it"]),
        (lambda folder: put(folder, "a.dat", "TEXT/ /1.txt"), ["no blank name", "rename it"]),
        (lambda folder: put_zip(folder, Entry(b" /1.txt", b"x")), ["ZIP_PATH: Entry ' /1.txt': the name, or a part"]),
        (lambda folder: put_zip(folder, Entry(b".", b"x")), ["Entry '.': its name is that of a folder", "a name"]),
        (not_a_zip, ["ZIP_DAMAGED", "Make the zip again"]),
        (lambda folder: put_zip(folder, Entry(b"../evil", b"x")), ["ZIP_PATH: Entry '../evil'"]),
        (
            lambda folder: put_zip(folder, Entry(b"1.doc", b"x", flags=ENCRYPTED)),
            ["ZIP_ENCRYPTED: Entry '1.doc'", "without a password"],
        ),
        (lambda folder: put_zip(folder, Entry(b"b.dat", b"x")), ["SEVERAL_LOAD_FILES", "Set --load-file to"]),
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
    assert document == {"volume": None, "imports": [], "pages": None, "files": None, "error": document["error"]}
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
    folder = put(tmp_path / "PROD", "VOL001/DATA/a.dat", "VOL002/a.dat", "VOL002/b.dat", "letter.pdf")
    workspace = Workspace(tmp_path / "state")
    assert main(["import", str(folder), "--case", "c"], workspace) == 1
    printed = capsys.readouterr().err
    assert "error: VOL002: SEVERAL_LOAD_FILES" in printed
    assert "Nothing was imported of the 2 volumes." in printed
    assert main(["import", str(folder), "--case", "c", "--json"], workspace) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["volumes"], document["not_sent"]) == ([], [str(folder / "letter.pdf")])
    assert "SEVERAL_LOAD_FILES" in document["error"]
    assert not workspace.state_dir.exists()


def run_several(
    folder: Path, codes: dict[str, int], capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> tuple[int, str]:
    """The exit code and the output of volumes that end with these codes."""

    def run_one(path: Path) -> VolumeResult:
        if codes[path.name] < 0:
            raise KeyboardInterrupt
        return VolumeResult(codes[path.name], {"volume": path.name}, 1, [1, 1, 0, 0, 0])

    found = list_volumes([put(folder, *(f"{name}/a.dat" for name in codes))], {})
    code = SeveralVolumes(found, "local", "c", {}, run_one, as_json).run(build_console(sys.stdout))
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
    assert json.loads(capsys.readouterr().out)["volumes"] == [{"volume": "V1"}]


def test_a_load_file_that_is_chosen_settles_which_one(tmp_path: Path) -> None:
    from exhibit_ingest.volumes.survey import survey_volume

    folder = put(tmp_path / "VOL001", "DATA/a.dat", "DATA/b.dat", "NATIVES/1.txt")
    source = survey_volume(folder, "local", "c", {"loadFile": "data\\B.DAT"})
    assert (source.name, len(source.files), source.size) == ("VOL001", 3, 63)


def test_an_unreadable_folder_is_not_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "VOL001", "a.dat", "NATIVES/1.txt")
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("NATIVES"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError, match="NATIVES"):
        list_files(folder)


def test_an_upload_of_files_with_other_sizes_or_times_is_another_one(tmp_path: Path) -> None:
    folder, memory = put(tmp_path / "VOL001", "a.dat"), UploadMemory(tmp_path / "state")
    files = list_files(folder)
    content = identify_content(files, "local", "c")
    memory.begin_upload(content, Upload(7, "2026"))
    os.utime(folder / "a.dat", ns=(0, files[0].changed + 1))
    changed = list_files(folder)
    assert memory.find_upload(content) == (7, "2026")
    assert memory.find_upload(identify_content(changed, "local", "c")) is None
    assert memory.find_upload(identify_content(files, "local", "d")) is None
    memory.end_upload(content)
    assert memory.find_upload(content) is None


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
