"""A database server is found by what it says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.services.mysql_binaries import find_binaries


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
