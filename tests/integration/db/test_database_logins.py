"""How a deployed function logs in: with the secret as it is now, over TLS, to the server that it means."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import boto3
import pymysql
import pytest
from sqlalchemy.exc import OperationalError

from core.errors import DatabaseUnavailableError, SettingsError
from shell.aws.secrets import get_secret
from shell.db import connection as db_connecting
from shell.db import session
from shell.db.connection import tls_context
from shell.db.errors import is_server_unavailable
from shell.deadline import invocation_deadline
from tests.support.database.logins import Login, cipher, create_login, engine_to, forget_settings
from tests.support.faults.tcp_proxy import proxied
from tests.support.servers.provisioned_servers import SERVER, is_mysql
from tests.support.servers.tls_server import Authority, StrippingProxy, tls_server
from tests.support.utils.failing_units import Left

SHARED = str(Path(session.__file__).parents[2])
PROGRAM = """
import sys
sys.modules["cryptography"] = None
import ssl
from sqlalchemy import make_url, text
from shell.db import connection
# A server that was given has no parameter group, which sets the ids of the deployed one.
arguments, ids = connection.connect_args, ", auto_increment_increment = 1000, auto_increment_offset = 1"
connection.connect_args = lambda: {**arguments(), "init_command": arguments()["init_command"] + ids}
from shell.db.session import engine
# What is checked here is the password; the certificate of the tests' server is covered by no authority.
connection.tls_context = lambda _file: ssl._create_unverified_context()
with engine(make_url(sys.argv[1])).connect() as connection:
    print(connection.execute(text("SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)")).scalar())
"""


@pytest.fixture(scope="module")
def private() -> Iterator[tuple[str, Authority]]:
    """A server with a certificate of our own authority."""
    with tls_server() as made:
        yield made


@pytest.fixture(params=["private", "given"])
def login(request: pytest.FixtureRequest, environment: dict[str, str]) -> Iterator[Login]:
    """On the private server, and on the tests' own where that is MySQL, which has TLS by itself."""
    if request.param == "given" and not is_mysql(os.environ[SERVER]):
        pytest.skip("the tests' server is no MySQL")
    address = os.environ[SERVER] if request.param == "given" else request.getfixturevalue("private")[0]
    yield from create_login(address, request.getfixturevalue("private")[1])


@pytest.fixture
def private_login(private: tuple[str, Authority], environment: dict[str, str]) -> Iterator[Login]:
    """On the private server."""
    yield from create_login(*private)


def test_a_password_that_is_rotated_in_mid_run_is_fetched_by_the_next_connection(private_login: Login) -> None:
    login = private_login
    engine = engine_to(login.url)
    assert cipher(engine)
    old = login.password
    login.rotate()
    assert cipher(engine), "the connection that is open stays"
    engine.dispose()
    assert json.loads(get_secret(login.arn, max_age_s=60))["password"] == old, "what a warm function still has"
    assert cipher(engine)
    engine.dispose()


def test_the_refused_login_is_the_only_one(private_login: Login) -> None:
    engine, refused = engine_to(private_login.url), [private_login.refused()]
    for rotating in (False, True, False):
        if rotating:
            private_login.rotate()
        assert cipher(engine)
        engine.dispose()
        refused.append(private_login.refused())
    assert [later - earlier for earlier, later in pairwise(refused)] == [0, 1, 0]


def test_a_secret_that_is_wrong_is_tried_twice_and_no_more(private_login: Login) -> None:
    private_login.rotate(is_stored=False)
    before = private_login.refused()
    with pytest.raises(OperationalError, match="1045"):
        engine_to(private_login.url).connect()
    assert private_login.refused() - before == 2


def test_without_the_authorities_nothing_is_connected(
    private_login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db_connecting, "RDS_AUTHORITIES", tmp_path / "rds-authorities.pem")
    with pytest.raises(SettingsError, match=r"no rds-authorities.pem: build it with `make build`"):
        engine_to(private_login.url)


def test_a_certificate_that_no_authority_covers_is_refused(
    private_login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db_connecting, "RDS_AUTHORITIES", Authority(tmp_path, "another").file)
    with pytest.raises(SettingsError, match=r"certificate is not trusted: .*(issuer|self-signed)"):
        engine_to(private_login.url).connect()


def test_with_the_servers_authority_its_certificate_is_trusted_for_its_own_host(
    private_login: Login, private: tuple[str, Authority], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db_connecting, "RDS_AUTHORITIES", private[1].file)
    engine = engine_to(private_login.url)
    assert cipher(engine)
    engine.dispose()
    with pytest.raises(SettingsError, match="Hostname mismatch"):
        engine_to(private_login.url.set(host="localhost")).connect()
    assert tls_context.cache_info().misses == 1, "all engines have one context"


def test_a_chain_that_python_313_calls_unsound_is_trusted_and_all_else_stays_refused(
    private_login: Login, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's certificate has no Authority Key Identifier. The first part is the control: the flag refuses it."""
    create = ssl.create_default_context

    def create_as_python_313(*given: Any, **named: Any) -> ssl.SSLContext:
        context = create(*given, **named)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", create_as_python_313)
    context = tls_context(db_connecting.RDS_AUTHORITIES)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    with pytest.raises(SettingsError, match="Missing Authority Key Identifier"):
        engine_to(private_login.url).connect()
    tls_context.cache_clear()
    engine = engine_to(private_login.url)
    assert cipher(engine)
    engine.dispose()
    with pytest.raises(SettingsError, match="Hostname mismatch"):
        engine_to(private_login.url.set(host="localhost")).connect()
    tls_context.cache_clear()
    monkeypatch.setattr(db_connecting, "RDS_AUTHORITIES", Authority(tmp_path, "another").file)
    with pytest.raises(SettingsError, match=r"certificate is not trusted: .*(issuer|self-signed)"):
        engine_to(private_login.url).connect()


def test_a_proxy_that_strips_the_encryption_gets_no_password(login: Login) -> None:
    with proxied(StrippingProxy, login.url) as (proxy, _):
        behind = login.url.set(port=proxy.port)
        with pytest.raises(OperationalError, match="SSL is required"):
            engine_to(behind).connect()


def test_a_connection_that_does_not_insist_would_be_read_along(private_login: Login) -> None:
    """The negative control: encrypted if the server offers it."""
    with proxied(StrippingProxy, private_login.url) as (proxy, _), pytest.raises(pymysql.err.Error, match="1045"):
        # That the server refuses it now is the work of REQUIRE SSL; what was to be kept was sent already.
        pymysql.connect(host="127.0.0.1", port=proxy.port, user=private_login.user, password=private_login.password)


def test_a_password_of_mysqls_needs_no_cryptography_over_tls(login: Login) -> None:
    """The deployed layer does without that package."""
    command = [sys.executable, "-c", PROGRAM, login.url.render_as_string()]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": SHARED}
    )
    assert (done.stdout.strip(), done.stderr) == (login.user, "")


def test_while_the_secret_is_not_to_be_had_the_last_one_is_used_and_without_that_it_is_an_outage(
    private_login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_to(private_login.url)
    assert cipher(engine)
    engine.dispose()
    boto3.client("secretsmanager").delete_secret(SecretId=private_login.arn, ForceDeleteWithoutRecovery=True)
    monkeypatch.setattr(db_connecting, "CREDENTIALS_AGE_S", 0)
    assert cipher(engine)
    engine.dispose()
    forget_settings()
    with pytest.raises(DatabaseUnavailableError, match=private_login.arn):
        engine.connect()


def test_a_host_that_vanishes_is_noticed(private_login: Login) -> None:
    with engine_to(private_login.url).connect() as connection:
        wire = connection.connection.dbapi_connection._sock  # type: ignore[union-attr]
        assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert 0 < wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 15_000


@pytest.fixture
def deaf() -> Iterator[tuple[str, int]]:
    """An address that listens and accepts no connection any more."""
    with ExitStack() as opened:
        listening = opened.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(8):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()


def test_connecting_takes_no_longer_than_there_is_time(
    private_login: Login, deaf: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere, patience, connect = private_login.url.set(host=deaf[0], port=deaf[1]), set(), socket.create_connection

    def connecting(address: tuple[str, int], timeout: float) -> socket.socket:
        patience.add(timeout)
        return connect(address, timeout=timeout)

    monkeypatch.setattr(socket, "create_connection", connecting)
    with invocation_deadline(Left(3000)), pytest.raises(OperationalError, match="2003"):
        engine_to(nowhere).connect()
    assert patience == {1.0}, "two of the three seconds are kept back"


def test_a_login_that_is_accepted_and_not_answered_ends_in_time(
    private_login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a paused database takes it while it resumes."""
    # So long that the end is that of the deadline on any machine.
    monkeypatch.setattr(db_connecting, "CONNECT_S", 300)
    with socket.create_server(("127.0.0.1", 0)) as silent, invocation_deadline(Left(3000)):
        began = time.monotonic()
        with pytest.raises(OperationalError) as refused:
            engine_to(private_login.url.set(host="127.0.0.1", port=silent.getsockname()[1])).connect()
    assert is_server_unavailable(refused.value), "it is waited for"
    assert time.monotonic() - began < 100
