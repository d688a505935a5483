"""The private database server comes up as it should, and no other server is ever touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from local.errors import DatabaseServerError
from local.services.mysql import SETTINGS, PrivateServer
from local.services.mysql_binaries import Binaries, find_or_install, find_unpacked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Too long for a socket inside it, and with spaces, as directories of users may be.
    return tmp_path_factory.mktemp("server") / ("long " * 20).strip()


@pytest.fixture(scope="module")
def unpacked(directory: Path) -> Binaries:
    """The installed programs as if their packages had been unpacked beside the server's folder; MySQL as it is."""
    installed = find_or_install()
    base = directory.with_name("with spaces") / "usr"
    base.mkdir(parents=True)
    for each in ("bin", "sbin", "share"):
        (base / each).symlink_to(installed.server.parents[1] / each)
    return (None if installed.is_mysql else find_unpacked(base.parent)) or installed


@pytest.fixture(scope="module")
def server(directory: Path, unpacked: Binaries) -> Iterator[PrivateServer]:
    server = PrivateServer(directory, binaries=unpacked, tcp=True)
    server.start()
    yield server
    server.stop()


def test_it_listens_on_this_machine_alone_with_the_settings_that_transactions_rest_on(server: PrivateServer) -> None:
    engine = create_engine(server.url())
    with engine.connect() as connection:
        rows = connection.execute(text("SHOW GLOBAL VARIABLES")).all()
    engine.dispose()
    found = {str(name).replace("_", "-"): str(value) for name, value in rows}
    found["transaction-isolation"] = found.get("transaction-isolation") or found["tx-isolation"]
    assert {name: found[name] for name in SETTINGS} == SETTINGS | {"max-allowed-packet": str(64 << 20)}
    assert found["bind-address"] == "127.0.0.1"


def test_data_outlive_the_server(tmp_path: Path) -> None:
    first = PrivateServer(tmp_path)
    _execute(first.start(), "CREATE DATABASE kept")
    assert PrivateServer(tmp_path).stop()
    assert not first.stop()

    second = PrivateServer(tmp_path)
    try:
        _execute(second.start(), "USE kept")
    finally:
        second.stop()


def test_a_server_of_unpacked_packages_has_its_files_from_them(server: PrivateServer, unpacked: Binaries) -> None:
    if unpacked.is_mysql:
        pytest.skip("the packages are MariaDB's")
    engine = create_engine(server.url())
    with engine.connect() as connection:
        found = connection.execute(text("SELECT @@basedir, @@lc_messages_dir, @@character_sets_dir")).one()
    engine.dispose()
    assert [str(each).startswith(str(unpacked.base)) for each in found] == [True] * 3


def test_a_server_of_another_directory_is_not_taken_for_ours(
    server: PrivateServer, directory: Path, tmp_path: Path
) -> None:
    for name in ("server.pid", "server.json"):
        (tmp_path / name).write_text((directory / name).read_text())
    assert not PrivateServer(tmp_path).stop()
    assert server.is_running()


def test_a_server_that_cannot_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ibdata1").write_text("no tablespace")
    with pytest.raises(DatabaseServerError, match=r"(?s)error\.log ends with:.*ERROR"):
        PrivateServer(tmp_path).start()


def _execute(url: str, statement: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()
