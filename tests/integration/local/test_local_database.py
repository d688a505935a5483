"""The private database server comes up as it should, and no other server is ever touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from local.errors import DatabaseServerError
from local.services.mysql import SETTINGS, PrivateServer


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Too long for a socket inside it, and with spaces, as directories of users may be.
    return tmp_path_factory.mktemp("server") / ("long " * 20).strip()


@pytest.fixture(scope="module")
def server(directory: Path) -> Iterator[PrivateServer]:
    server = PrivateServer(directory)
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
