"""The draft of a backup: who may have it, for how long, and who can read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from local.backup.archive import ArchiveWriter, extract_archive, write_archive
from local.errors import LocalError, UsageError


def draft_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.partial")


def write(path: Path) -> None:
    with write_archive(path) as archive:
        archive.add_manifest({})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("has_links", [True, False])
def test_no_other_backup_gets_the_draft_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_links: bool
) -> None:
    path, refused = tmp_path / "b.tar", list[str]()
    call, link, rename = "link" if has_links else "rename", os.link, os.rename

    def refuse(*_: Any) -> None:
        raise PermissionError

    def name(*places: Any) -> None:
        # Another backup, at the last instant before the draft has its name.
        with pytest.raises(LocalError) as caught:
            write(path)
        refused.append(str(caught.value))
        (link if has_links else rename)(*places)

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, call, name)
    monkeypatch.setattr(Path, "rename", lambda self, target: os.rename(self, target))
    write(path)
    assert refused == [f"another backup is being written to {path}; wait for it, or give another name"]
    assert list(tmp_path.iterdir()) == [path]
    assert extract_archive(path, tmp_path / "out")["members"] == {}


def test_the_draft_of_a_killed_backup_is_written_anew_and_private(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"
    draft_of(path).write_bytes(b"earlier" * 10_000)
    draft_of(path).chmod(0o666)
    with write_archive(path) as archive:
        assert mode(draft_of(path)) == 0o600
        archive.add_manifest({})
    assert mode(path) == 0o600
    assert extract_archive(path, tmp_path / "out")["members"] == {}


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_what_a_link_leads_to_is_not_changed(tmp_path: Path, make: Any) -> None:
    path, other = tmp_path / "b.tar", tmp_path / "other"
    other.write_bytes(b"other")
    make(draft_of(path), other)
    with pytest.raises(LocalError, match="partial is a link, or not a file of yours; delete it"):
        write(path)
    assert (other.read_bytes(), draft_of(path).read_bytes(), path.exists()) == (b"other", b"other", False)


def test_a_pipe_or_a_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "b.tar"
    os.mkfifo(draft_of(path))
    with pytest.raises(LocalError, match="not a file of yours"):
        write(path)
    draft_of(path).unlink()
    draft_of(path).write_bytes(b"theirs")
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.raises(LocalError, match="not a file of yours"):
        write(path)
    assert draft_of(path).read_bytes() == b"theirs"


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"

    def fill(archive: ArchiveWriter) -> None:
        archive.add_manifest({})
        path.write_bytes(b"theirs")

    with pytest.raises(UsageError, match=r"b\.tar exists"), write_archive(path) as archive:
        fill(archive)
    assert (path.read_bytes(), draft_of(path).exists()) == (b"theirs", False)
