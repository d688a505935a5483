"""A path of Windows is answered with what it is in the subsystem."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from exhibit_ingest import arguments
from exhibit_ingest.arguments import parse_path
from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.windows_paths import convert_path, is_subsystem, propose_path, read_mount


@pytest.mark.parametrize(
    ("typed", "here"),
    [
        (r"D:\Loads\VOL001", "/mnt/d/Loads/VOL001"),
        ("d:/loads/my file.dat", "/mnt/d/loads/my file.dat"),
        ("C:\\", "/mnt/c/"),
        (r"\\wsl$\Ubuntu\data\a.dat", "/data/a.dat"),
        (r"\\wsl.localhost\Ubuntu\data", "/data"),
        ("/data/ada", None),
        ("a.dat", None),
        ("C:a.dat", None),
        (r"\\server\share\a.dat", None),
    ],
)
def test_a_path_is_converted_if_it_is_one_of_windows(typed: str, here: str | None) -> None:
    assert convert_path(typed) == here


def test_the_sentence_says_what_to_give_and_whether_it_exists(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "a.dat").touch()
    found = propose_path(r"C:\a.dat", mount=f"{tmp_path}/")
    assert found == rf"C:\a.dat is a path of Windows. Here it is {tmp_path}/c/a.dat: give that."
    assert "does not exist" in (propose_path(r"C:\b.dat", mount=f"{tmp_path}/") or "")


def test_a_file_that_exists_as_it_was_typed_gets_no_proposal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("C:\\a.dat").touch()
    assert propose_path("C:\\a.dat") is None


@pytest.mark.parametrize(
    ("text", "mount"),
    [("[automount]\nroot = /windows\n", "/windows/"), ("[boot]\nsystemd=true\n", "/mnt/"), ("no section", "/mnt/")],
)
def test_the_folder_of_the_drives_is_read_from_the_configuration(tmp_path: Path, text: str, mount: str) -> None:
    (tmp_path / "wsl.conf").write_text(text)
    assert (read_mount(tmp_path / "wsl.conf"), read_mount(tmp_path / "missing")) == (mount, "/mnt/")


@pytest.mark.parametrize(("text", "expected"), [("Linux 5.15-microsoft-standard-WSL2", True), ("Linux 6.1", False)])
def test_the_subsystem_says_that_it_is_one(tmp_path: Path, text: str, *, expected: bool) -> None:
    (tmp_path / "version").write_text(text)
    assert (is_subsystem(tmp_path / "version"), is_subsystem(tmp_path / "missing")) == (expected, False)


def test_every_path_of_a_command_line_is_one_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "is_subsystem", lambda: True)
    for line in (
        r"import C:\a.dat --case a",
        r"documents --case a --csv C:\a.csv",
        r"productions download 1 C:\a",
        r"rejections 1 --fix C:\a.dat",
    ):
        with pytest.raises(WrongUsageError, match=r"C:.a.* is a path of Windows\. Here it would be /mnt/c/a"):
            build_parser().parse_args(line.split())
    assert not [each for each in find_actions(build_parser()) if each.type is Path]
    assert [each for each in find_actions(build_parser()) if each.type is parse_path]


def test_elsewhere_a_path_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "is_subsystem", lambda: False)
    assert parse_path(r"C:\a.dat") == Path(r"C:\a.dat")


def find_actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All actions of a parser, and of its commands."""
    found: list[argparse.Action] = []
    for action in parser._actions:
        found.append(action)
        for each in action.choices.values() if isinstance(action, argparse._SubParsersAction) else ():
            found += find_actions(each)
    return found
