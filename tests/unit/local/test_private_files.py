"""What is in the state directory is for its owner alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.private_files import make_private_folder, write_secret_file
from local.services.state_lock import lock_state_directory


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """A umask with which everybody may read what is created."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_state_directory_of_an_earlier_version_is_closed_to_others(tmp_path: Path) -> None:
    directory = tmp_path / ".local"
    directory.mkdir()
    assert mode(directory) == 0o755
    with lock_state_directory(directory):
        assert mode(directory) == 0o700


def test_a_secret_file_is_replaced_and_private(tmp_path: Path) -> None:
    path = make_private_folder(tmp_path / "a" / "b") / "secret"
    path.write_text("earlier")
    write_secret_file(path, "now")
    assert (mode(path.parent), mode(path), path.read_text()) == (0o700, 0o600, "now")
    assert list(path.parent.iterdir()) == [path]
