"""`backup`, `restore` and `serve --install` as commands: what they print, and what they refuse."""

from __future__ import annotations

import errno
import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest

from exhibit_ingest.cli import main
from local.backup.archive import extract_archive, write_archive
from local.command.preservation import install_service
from local.command.workspace import Workspace
from local.errors import LocalError
from local.service_unit import UNIT
from local.services.state_lock import lock_state_directory


@pytest.mark.slow
def test_a_backup_is_restored_in_another_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = Workspace(tmp_path / "here"), Workspace(tmp_path / "there")
    with here.stack(minimal=True):
        pass
    assert main.main(["backup", str(tmp_path / "backup.tar")], here) == 0
    assert f"{tmp_path / 'backup.tar'}: written: " in capsys.readouterr().out
    assert main.main(["restore", str(tmp_path / "backup.tar"), "--json"], there) == 0
    assert json.loads(capsys.readouterr().out)["tables"]["imports"] == 0
    assert main.main(["restore", str(tmp_path / "backup.tar")], there) == 2
    assert "--overwrite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("backup", "missing/backup.tar"), "missing is not a folder; create it, or give another name"),
        (("backup", "there.tar"), "there.tar exists; give another name, or delete it first"),
        (("restore", "missing.tar"), "missing.tar is not a file; give the path of one that"),
    ],
)
def test_a_name_that_cannot_be_used_is_wrong_usage(
    tmp_path: Path, arguments: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there.tar").touch()
    (tmp_path / "state" / "database" / "data").mkdir(parents=True)
    command, path = arguments[0], str(tmp_path / arguments[1])
    more = ["--overwrite"] if command == "restore" else []
    assert main.main([command, path, "--json", *more], Workspace(tmp_path / "state")) == 2
    document = json.loads(capsys.readouterr().out)
    assert (list(document), said in document["error"]) == (["path", "error"], True)


_LOST = pymysql.err.OperationalError(2013, "Lost connection to server during query")


@pytest.mark.parametrize(
    ("command", "error", "said"),
    [
        (
            "backup",
            _LOST,
            "refused the backup: .*Lost connection .* No backup was written. Run the command again.",
        ),
        ("restore", _LOST, "refused the restore: .* Nothing was changed. Restore it on the kind of server"),
        ("backup", OSError(errno.ENOSPC, "No space left", "/x"), "/x: No space left. No backup was written. Free some"),
        ("backup", PermissionError(errno.EACCES, "Denied", "/x"), "/x: Denied. No backup was written. Check the disk"),
        (
            "backup",
            sqlite3.DatabaseError("database disk image is malformed"),
            "the list of the stored files cannot",
        ),
        ("restore", LocalError("backup.tar is damaged"), "^backup.tar is damaged$"),
    ],
)
def test_whatever_goes_wrong_is_a_sentence_with_the_next_step(
    tmp_path: Path,
    command: str,
    error: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(f"local.backup.{command}.{command}", fail)
    given = [command, str(tmp_path / "backup.tar")]
    assert main.main([*given, "--json"], Workspace(tmp_path)) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["path"] == given[1]
    assert re.search(said, document["error"])
    assert main.main(given, Workspace(tmp_path)) == 1
    assert capsys.readouterr().err == f"exhibit-ingest: error: {document['error']}\n"


def test_a_restore_beside_a_stack_that_is_served_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    (state / "database" / "data").mkdir(parents=True)
    with write_archive(tmp_path / "backup.tar") as archive:
        archive.add_manifest({})
    # As `serve` holds it.
    with lock_state_directory(state):
        before = sorted(state.rglob("*"))
        assert main.main(["restore", str(tmp_path / "backup.tar"), "--overwrite", "--json"], Workspace(state)) == 1
        assert sorted(state.rglob("*")) == before
    assert "exhibit-ingest" in json.loads(capsys.readouterr().out)["error"]


def test_two_backups_to_one_file_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "backup.tar"
    with write_archive(path) as first:
        first.add_manifest({})
        with pytest.raises(LocalError, match="another backup is being written"), write_archive(path):
            pass
    assert [each.name for each in tmp_path.iterdir()] == ["backup.tar"]


def test_what_a_killed_backup_has_left_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "backup.tar.partial").write_bytes(b"x" * 100_000)
    with write_archive(tmp_path / "backup.tar") as archive:
        archive.add_manifest({})
    assert extract_archive(tmp_path / "backup.tar", tmp_path / "extracted")["members"] == {}
    assert not (tmp_path / "backup.tar.partial").exists()


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_the_database_of_the_user_is_not_touched(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = replace(Workspace(tmp_path), database_url="mysql+pymysql://me@db/acme")
    assert main.main([command, str(tmp_path / "backup.tar")], own) == 1
    assert "DATABASE_URL is set" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_unit_is_written_and_how_to_start_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert install_service(8701, {"HOME": str(tmp_path)}) == 0
    unit = tmp_path / ".config" / "systemd" / "user" / UNIT
    assert '"serve" "--port" "8701"' in unit.read_text()
    printed = capsys.readouterr().out
    assert (str(unit) in printed, "systemctl --user enable --now" in printed) == (True, True)
