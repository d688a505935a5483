"""Answers of stacks and issuers in another form than was agreed, tokens that cannot be sent, proxies, the loopback."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from exhibit_ingest.client.api import Api, build_storage_http
from exhibit_ingest.client.failures import UnreachableError
from exhibit_ingest.client.open_requests import get_object, post
from exhibit_ingest.client.versions import read_me
from exhibit_ingest.client.waiting import Patience
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.sign_in.device import sign_in_by_device
from exhibit_ingest.sign_in.issuers import Issuer, find_issuer
from exhibit_ingest.sign_in.local_key import exchange_key
from exhibit_ingest.sign_in.loopback import listen
from exhibit_ingest.sign_in.providers import FixedToken, open_provider, run_token_command
from exhibit_ingest.sign_in.secret_store import SecretStore
from exhibit_ingest.sign_in.surroundings import Clock
from exhibit_ingest.sign_in.token_requests import request_tokens
from exhibit_ingest.stacks.addresses import read_address
from exhibit_ingest.stacks.configuration import Stack
from tests.support.sign_in.free_ports import find_free_ports
from tests.support.sign_in.played_api import ME
from tests.support.sign_in.played_server import Answer, PlayedServer, Received

SECRET = "secret-token"  # noqa: S105 - not one
NEVER = Patience(network_s=0, server_s=0, sleep=lambda _: None)


@pytest.fixture
def server() -> Iterator[PlayedServer]:
    with PlayedServer(lambda _: Answer()).run() as server:
        yield server


def fail(use: Callable[[], object]) -> str:
    with pytest.raises(CommandError) as caught:
        use()
    text = str(caught.value)
    assert text.isprintable()
    assert SECRET not in text
    return text


@pytest.mark.parametrize(
    "answer",
    [
        Answer(302),
        Answer(302, headers={"Location": "http://["}),
        Answer(200, "[" * 100_000),
        Answer(400, {"type": 7, "detail": {"a": 1}, "errors": None}),
        Answer(400, {"errors": ["text", 7]}),
        Answer(400, {"errors": {"a": 1}}),
        Answer(429, {}, {"Retry-After": "9" * 400}),
        Answer(503, {}, {"Retry-After": "-1"}),
    ],
)
def test_an_odd_answer_of_the_api_is_one_sentence(server: PlayedServer, answer: Answer) -> None:
    server.decide = lambda _: answer
    with Api(server.url, FixedToken(SECRET), patience=NEVER) as api:
        assert len(fail(lambda: api.request("GET", "/imports"))) < 1_500


@pytest.mark.parametrize("me", [{}, {**ME, "limits": None}, {**ME, "tenantId": ""}, {**ME, "version": None}])
def test_a_user_in_another_form_is_refused(server: PlayedServer, me: dict[str, Any]) -> None:
    server.decide = lambda _: Answer(body=me)
    with Api(server.url, FixedToken(SECRET)) as api:
        assert "answers `GET /me` in another form" in fail(lambda: read_me(api))


@pytest.mark.parametrize(
    "host", ["a" * 64 + ".com", "a..b", "-a.b", "a b.com", "xn--a.example", "\u200b.com", "a,b", "%00"]
)
def test_a_host_that_cannot_be_looked_up_is_wrong_usage(host: str) -> None:
    with pytest.raises(WrongUsageError, match="begins with https:// and the name of a host"):
        read_address(f"https://{host}")


@pytest.mark.parametrize(
    "host", ["a_b.example", "k\u00e4se.example", "xn--kse-qla.example", "10.0.0.1", "[2001:db8::1]:8443"]
)
def test_hosts_of_other_languages_and_addresses_are_read(host: str) -> None:
    assert read_address(f"https://{host}") == (f"https://{host}", None)


@pytest.mark.parametrize("token", [f"{SECRET}\nX-Role: admin", f"{SECRET} x", f"{SECRET}\u00e9", SECRET * 2_000, '"a"'])
def test_a_token_that_is_none_is_in_no_message(tmp_path: Path, server: PlayedServer, token: str) -> None:
    stack, store = Stack("firm", server.url), SecretStore(tmp_path)
    text = fail(lambda: open_provider(stack, {"EXHIBIT_INGEST_TOKEN": token}, store))
    assert text.startswith("The variable EXHIBIT_INGEST_TOKEN has no token")
    server.decide = lambda _: Answer(body={"id_token": token, "idToken": token, "expiresIn": 60})
    issuer = Issuer("client", f"{server.url}/token")
    assert "The answer of the issuer has no token" in fail(lambda: request_tokens(issuer, {"grant_type": "x"}))
    assert f"The answer of {server.url} has no token" in fail(lambda: exchange_key(server.url, SECRET))


@pytest.mark.parametrize(
    "command",
    [
        f"printf '{SECRET}\\nline'",
        f"no-such-program {SECRET}",
        f"false {SECRET}",
        f'printf "{SECRET}',
        f"printf '{SECRET}\\377'",
    ],
)
def test_the_arguments_of_a_token_command_are_in_no_message(command: str) -> None:
    assert command.split()[0] in fail(lambda: run_token_command(command))


@pytest.mark.parametrize(
    ("lifetime", "seconds"),
    [(60, 60), (0, 0), (-5, 3600), ("60", 3600), (None, 3600), (float("nan"), 3600), (1e999, 3600)],
)
def test_a_lifetime_that_makes_no_sense_is_an_hour(server: PlayedServer, lifetime: object, seconds: float) -> None:
    server.decide = lambda _: Answer(body={"id_token": SECRET, "expires_in": lifetime, "refresh_token": 7})
    tokens = request_tokens(Issuer("client", server.url), {"grant_type": "x"})
    assert (tokens.expires_in, tokens.refresh_token) == (seconds, None)


def test_an_issuer_that_fails_has_not_refused(server: PlayedServer) -> None:
    """An upload waits for it, as for a network that is lost."""
    server.decide = lambda _: Answer(503, {"error": "invalid_grant"})
    with pytest.raises(UnreachableError, match=r"answered 503\. Run the command again") as caught:
        request_tokens(Issuer("client", server.url), {"grant_type": "refresh_token"})
    assert not caught.value.is_final


@pytest.mark.parametrize("body", ["<html>", [], {"idToken": SECRET}, {"idToken": None, "expiresIn": 5}])
def test_another_program_at_the_port_of_a_stopped_stack_is_named(server: PlayedServer, body: object) -> None:
    server.decide = lambda _: Answer(body=body)
    assert "serve" in fail(lambda: exchange_key(server.url, SECRET)) or body == {"idToken": None, "expiresIn": 5}


def test_a_device_grant_has_a_pause_between_two_requests(server: PlayedServer) -> None:
    begun = {"device_code": "d", "user_code": "u", "verification_uri": "https://a.example", "expires_in": 30}
    slept: list[float] = []

    def decide(request: Received) -> Answer:
        return (
            Answer(body={**begun, "interval": -9}) if request.path == "/device" else Answer(400, {"error": "slow_down"})
        )

    server.decide = decide
    issuer = Issuer("client", f"{server.url}/token", device=f"{server.url}/device")
    clock = Clock(lambda: sum(slept), slept.append)
    assert "expired" in fail(lambda: sign_in_by_device(issuer, lambda _: None, clock))
    assert slept == [1, 6, 11]
    for lacking in ({"device_code": "d"}, {**begun, "expires_in": None}, {**begun, "interval": "soon"}):
        server.decide = lambda _, body=lacking: Answer(body=body)  # type: ignore[misc]
        assert "RFC 8628" in fail(lambda: sign_in_by_device(issuer, lambda _: None, clock))


def test_metadata_without_a_token_endpoint_are_refused(server: PlayedServer) -> None:
    server.decide = lambda _: Answer(body={"issuer": server.url})
    sign_in = {"kind": "issuer", "issuer": server.url, "clientId": "c"}
    assert "names no token endpoint" in fail(lambda: find_issuer(sign_in, server.url))


def test_neither_a_token_nor_a_key_is_sent_to_where_a_redirect_points(server: PlayedServer) -> None:
    with PlayedServer(lambda _: Answer(body=ME)).run() as elsewhere:
        server.decide = lambda _: Answer(307, headers={"Location": f"{elsewhere.url}/me"})
        with Api(server.url, FixedToken(SECRET)) as api:
            assert f"a redirect to {elsewhere.url[7:]}" in fail(lambda: api.request("GET", "/me"))
        fail(lambda: get_object(server.url))
        assert post(server.url, form={"refresh_token": SECRET}).status_code == 307
        assert elsewhere.received == []


def test_what_is_for_this_machine_does_not_go_to_the_proxy_of_the_network(
    server: PlayedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.decide = lambda _: Answer(body=ME)
    with PlayedServer(lambda _: Answer(body=ME)).run() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        with Api(server.url, FixedToken(SECRET)) as api:
            assert api.request("GET", "/me") == ME
        assert (len(server.received), proxy.received) == (1, [])


def test_logs_of_a_program_have_neither_a_token_nor_an_address(
    server: PlayedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.decide = lambda _: Answer(body=ME)
    with Api(server.url, FixedToken(SECRET)) as api, build_storage_http(server.url) as storage:
        api.request("GET", "/me")
        storage.put(f"{server.url}/key?X-Amz-Signature={SECRET}", content=b"")
    assert len(server.received) == 2
    assert SECRET not in caplog.text


def test_the_server_for_the_browser_answers_for_localhost_alone(capfd: pytest.CaptureFixture[str]) -> None:
    ports = find_free_ports(1)
    with listen(ports, "") as listener:
        listener.begin(lambda query: query.get("state") == "s")

        def get(query: str, host: str = f"localhost:{ports[0]}") -> int:
            url = f"http://127.0.0.1:{ports[0]}/{query}"
            return httpx.get(url, headers={"Host": host}, trust_env=False).status_code

        # A name of the internet can resolve to this machine.
        assert get("?state=s&code=1", "evil.example") == get("?state=x&code=1") == get("favicon.ico") == 404
        # A browser that opens a connection for later, and one that breaks off.
        with socket.create_connection(("127.0.0.1", ports[0])):
            broken = socket.create_connection(("127.0.0.1", ports[0]))
            broken.sendall(b"GET /?state=x HTTP/1.1\r\n")
            broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
            broken.close()
            assert get("?state=s&code=1") == 200
            assert get("?state=s&code=2") == 404
        assert listener.wait(5) == {"state": "s", "code": "1"}
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(not socket.has_ipv6, reason="the machine has no IPv6")
def test_a_port_whose_other_address_is_of_another_program_is_not_used() -> None:
    """A browser tries ::1 first."""
    first, second = find_free_ports(2)
    with socket.socket(socket.AF_INET6) as other:
        try:
            other.bind(("::1", first))
        except OSError:
            pytest.skip("the machine has no IPv6")
        other.listen()
        with listen((first, second), "") as listener:
            assert listener.port == second
    assert json.dumps(listener.hosts) == json.dumps([f"localhost:{second}", f"127.0.0.1:{second}"])
