"""No other user of the machine is the private server's root, and SQL reads and writes no file of the machine."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pymysql
import pytest

from local.services import mysql
from local.services.mysql import PrivateServer, temporary_server
from local.services.mysql_binaries import Binaries
from local.services.mysql_connection import parse_url
from local.services.mysql_login import DatabaseAccess
from tests.torture.stack.database_server import MYSQLD

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def binaries() -> Binaries | None:
    """MySQL's program if TORTURE_MYSQLD names it, as in the torture tests; otherwise what is installed."""
    program = os.environ.get(MYSQLD)
    return Binaries(Path(program), None) if program else None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, binaries: Binaries | None) -> Iterator[PrivateServer]:
    started = PrivateServer(tmp_path_factory.mktemp("server"), binaries=binaries, tcp=True)
    started.start()
    yield started
    started.stop()


def connect(server: PrivateServer, **arguments: Any) -> pymysql.Connection[Any]:
    given = parse_url(server.url("mysql")) | arguments
    return pymysql.connect(**{name: value for name, value in given.items() if value is not None})


def folder_of(server: PrivateServer) -> Path:
    return server.initialize().parent


@pytest.mark.parametrize("place", ["tcp", "socket"])
@pytest.mark.parametrize("user", ["root", "", "mysql", "mariadb.sys"])
@pytest.mark.parametrize("password", ["", "root", "0" * 64])
def test_a_login_without_the_password_is_refused(server: PrivateServer, place: str, user: str, password: str) -> None:
    state = json.loads((folder_of(server) / "server.json").read_text())
    path = {"unix_socket": state["socket"], "host": None, "port": None} if place == "socket" else {}
    with pytest.raises(pymysql.OperationalError, match=r"1045|1698|4151|3118|Access denied|locked"):
        connect(server, user=user, password=password, **path)


def test_without_a_port_only_the_owner_of_the_folder_reaches_the_server(
    tmp_path: Path, binaries: Binaries | None
) -> None:
    server = PrivateServer(tmp_path / "server", binaries=binaries)
    server.start()
    try:
        process = psutil.Process(int((tmp_path / "server" / "server.pid").read_text()))
        assert [each for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN] == []
        assert stat.S_IMODE((tmp_path / "server").stat().st_mode) == 0o700
        with connect(server) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT @@local_infile, CURRENT_USER()")
            assert cursor.fetchone() == (0, "root@localhost")
        # A command that needs a port gets one.
        with_port = PrivateServer(tmp_path / "server", binaries=binaries, tcp=True)
        assert "@127.0.0.1:" in with_port.start()
        with_port.stop()
    finally:
        server.stop()


def test_the_password_is_in_private_files_and_on_no_command_line(server: PrivateServer) -> None:
    folder = folder_of(server)
    password = (folder / "password").read_text()
    assert len(password) == 64
    holding = [each for each in folder.iterdir() if each.is_file() and password.encode() in each.read_bytes()]
    assert {each.name for each in holding} == {"password", "users.sql", "client.cnf"}
    assert {stat.S_IMODE(each.stat().st_mode) for each in holding} == {0o600}
    lines = [line for process in psutil.process_iter(["cmdline"]) for line in process.info["cmdline"] or ()]
    assert any(str(folder) in line for line in lines)
    assert not [line for line in lines if password in line]


def test_sql_reads_and_writes_no_file(server: PrivateServer, tmp_path: Path) -> None:
    """Not even as an administrator of the server; without the option, MariaDB has no limit."""
    secret, target = tmp_path / "secret", tmp_path / "written"
    secret.write_text("secret")
    with connect(server) as connection, connection.cursor() as cursor:
        for statement in (
            f"SELECT 'x' INTO OUTFILE '{target}'",
            f"SELECT 'x' INTO DUMPFILE '{target}'",
            f"LOAD DATA INFILE '{secret}' INTO TABLE mysql.func",
        ):
            with pytest.raises(pymysql.OperationalError, match=r"1290|1227|1045"):
                cursor.execute(statement)
        cursor.execute("SELECT LOAD_FILE(%s), LOAD_FILE('/etc/passwd')", (str(secret),))
        assert cursor.fetchone() == (None, None)
    assert not target.exists()
    assert not any((folder_of(server) / "no-files").glob("*"))


def test_the_client_command_logs_in(server: PrivateServer) -> None:
    client = shutil.which("mysql") or shutil.which("mariadb")
    if client is None:
        pytest.skip("there is no client")
    command = server.access.build_client_command("mysql").replace("mysql", client, 1)
    done = subprocess.run([*command.split(" "), "-e", "SELECT 6 * 7"], capture_output=True, text=True, check=True)
    assert "42" in done.stdout


class _OfAnEarlierVersion(DatabaseAccess):
    """The access before there were passwords."""

    @property
    def password(self) -> str:
        return ""

    def prepare(self, *, is_mysql: bool, port: int, socket: str) -> list[str]:
        users = self._directory / "users.sql"
        users.write_text(
            "CREATE USER IF NOT EXISTS root@'127.0.0.1' IDENTIFIED BY '';\n"
            "GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
        )
        return [f"--init-file={users}", *(["--secure-file-priv=NULL"] if is_mysql else [])]


@pytest.mark.parametrize("is_running", [False, True], ids=["stopped", "running"])
def test_data_of_an_earlier_version_open_with_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binaries: Binaries | None, is_running: bool
) -> None:
    with monkeypatch.context() as before:
        before.setattr(mysql, "DatabaseAccess", _OfAnEarlierVersion)
        earlier = PrivateServer(tmp_path, binaries=binaries, tcp=True)
        earlier.start()
    try:
        with connect(earlier, password="") as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE kept")
        if not is_running:
            earlier.stop()
        upgraded = PrivateServer(tmp_path, binaries=binaries)
        upgraded.start()
        try:
            with connect(upgraded, database="kept"), pytest.raises(pymysql.OperationalError, match="1045"):
                connect(upgraded, password="")
        finally:
            upgraded.stop()
    finally:
        earlier.stop()


def test_a_copy_of_initialized_data_gets_a_password_of_its_own(server: PrivateServer, tmp_path: Path) -> None:
    initialized = PrivateServer(tmp_path).initialize()
    with temporary_server(initialized=initialized) as url:
        assert parse_url(f"{url}".replace("/?", "/mysql?"))["password"] != server.access.password
