"""A database server is found by what it says of itself, or its packages are got."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from local.errors import DatabaseServerError
from local.services import mysql_binaries, mysql_packages
from local.services.mysql_binaries import find_binaries, find_or_install, main


def program(folder: Path, name: str, says: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_without_a_server_nothing_is_found(tmp_path: Path) -> None:
    assert find_binaries(str(tmp_path)) is None


@pytest.mark.parametrize("name", ["mariadbd", "mysqld"])
def test_mariadb_needs_its_installer(tmp_path: Path, name: str) -> None:
    server = program(tmp_path, name, "Ver 10.11.6-MariaDB")
    assert find_binaries(str(tmp_path)) is None
    installer = program(tmp_path, "mariadb-install-db", "")
    found = find_binaries(str(tmp_path))
    assert found
    assert (found.server, found.installer, found.is_mysql) == (server, installer, False)


def test_mysql_installs_itself(tmp_path: Path) -> None:
    program(tmp_path, "mysqld", "Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)")
    found = find_binaries(str(tmp_path))
    assert found
    assert found.is_mysql


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A Debian without a server, whose user is not root."""
    monkeypatch.setattr(mysql_binaries, "find_binaries", lambda: None)
    monkeypatch.setattr(mysql_packages, "has_apt", lambda: True)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return monkeypatch


def package_source(command: Sequence[str]) -> None:
    """As apt-get and dpkg-deb do it, for a package that has only the server."""
    if "--download-only" in command:
        [cache] = [each.partition("=")[2] for each in command if each.startswith("Dir::Cache=")]
        Path(cache, "archives", "server.deb").touch()
    elif command[0] == "dpkg-deb":
        (sbin := Path(command[-1], "usr", "sbin")).mkdir(parents=True)
        program(sbin, "mariadbd", "Ver 10.11.6-MariaDB")


def broken_source(command: Sequence[str]) -> None:
    raise DatabaseServerError(f"{command[0]} failed")


@pytest.mark.usefixtures("bare")
def test_without_root_packages_are_unpacked_once_into_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "state" / "mariadb"
    found = find_or_install(folder, package_source)
    assert (found.base, found.server.exists()) == (folder / "usr", True)
    assert list(folder.parent.iterdir()) == [folder], "nothing is left over"
    assert "set DATABASE_URL" in capsys.readouterr().err
    assert find_or_install(folder, broken_source) == found


@pytest.mark.parametrize("has_apt", [True, False])
def test_where_no_server_can_be_had_its_package_and_database_url_are_named(
    bare: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], has_apt: bool
) -> None:
    bare.setattr(mysql_packages, "has_apt", lambda: has_apt)
    bare.setattr(find_or_install, "__defaults__", (tmp_path / "mariadb", broken_source))
    assert main() == 1
    error = capsys.readouterr().err
    assert "export DATABASE_URL=" in error
    assert ("sudo apt-get install" in error and "apt-get failed" in error) == has_apt
    assert list(tmp_path.iterdir()) == []
