"""The local API Gateway over real sockets, in front of a function that is a Python callable."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from local.gateway.server import MAX_BODY_BYTES, ApiGateway
from local.gateway.tokens import Tokens
from local.template.model import ApiRoute

TOKENS = Tokens("s" * 64)
ROUTES = [
    ApiRoute("Things", "GET", "/things"),
    ApiRoute("Things", "POST", "/things"),
    ApiRoute("Thing", "GET", "/things/{thingId}"),
    ApiRoute("Thing", "DELETE", "/things/{thingId}"),
]


class Functions:
    """Answers with the given response, and remembers the events."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.answer: Any = {"statusCode": 200, "body": "ok"}
        self.blocks = threading.Event()
        self.blocks.set()

    def __call__(self, function: str, event: dict[str, Any]) -> Any:
        self.events.append((function, event))
        self.blocks.wait(20)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def functions() -> Iterator[Functions]:
    made = Functions()
    yield made
    made.blocks.set()


@pytest.fixture
def api(functions: Functions) -> Iterator[ApiGateway]:
    with ApiGateway(ROUTES, functions, TOKENS, integration_timeout=0.5) as running:
        yield running


def ask(api: ApiGateway, method: str = "GET", path: str = "/things", **more: Any) -> requests.Response:
    headers = {"Authorization": f"Bearer {TOKENS.issue('acme', 'ada')}"} | more.pop("headers", {})
    return requests.request(method, api.url + path, headers=headers, timeout=20, **more)


def connection(api: ApiGateway) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(api.url.removeprefix("http://"), timeout=20)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("", "the token is missing"),
        (TOKENS.issue("acme", "ada", lifetime_s=-1), "the token has expired"),
        (Tokens("t" * 64).issue("acme", "ada", lifetime_s=-1), "the token is not valid"),
    ],
    ids=["none", "expired", "expired and forged"],
)
def test_without_a_valid_token_no_function_is_called_and_the_client_learns_why(
    api: ApiGateway, functions: Functions, token: str, reason: str
) -> None:
    answer = ask(api, headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()) == (401, {"message": "Unauthorized"})
    assert answer.headers["www-authenticate"] == f'Bearer error="invalid_token", error_description="{reason}"'
    assert functions.events == []


@pytest.mark.parametrize("method", ["PUT", "HEAD", "QUERY"])
def test_an_unknown_route_is_not_found_even_without_a_token(api: ApiGateway, functions: Functions, method: str) -> None:
    answer = requests.request(method, f"{api.url}/things", timeout=20)
    assert answer.status_code == 404
    assert method == "HEAD" or answer.json() == {"message": "Not Found"}
    assert functions.events == []


@pytest.mark.parametrize("result", [ValueError("secret"), TimeoutError("secret"), {"statusCode": "secret"}])
def test_a_function_that_fails_shows_its_caller_nothing(api: ApiGateway, functions: Functions, result: Any) -> None:
    functions.answer = result
    answer = ask(api)
    assert (answer.status_code, answer.json()) == (500, {"message": "Internal Server Error"})
    assert "secret" not in str(answer.headers)


def test_a_function_that_takes_too_long_is_not_waited_for(api: ApiGateway, functions: Functions) -> None:
    functions.blocks.clear()
    answer = ask(api)
    assert (answer.status_code, answer.json()) == (503, {"message": "Service Unavailable"})


def test_a_body_of_ten_megabytes_passes_and_a_larger_one_does_not(api: ApiGateway, functions: Functions) -> None:
    functions.answer = {"statusCode": 204}
    assert ask(api, "POST", data=b"x" * MAX_BODY_BYTES).status_code == 204
    answer = ask(api, "POST", data=b"x" * (MAX_BODY_BYTES + 1))
    assert (answer.status_code, answer.json()) == (413, {"message": "Request Entity Too Large"})
    assert len(functions.events) == 1


def test_one_connection_carries_many_requests(api: ApiGateway, functions: Functions) -> None:
    client, token = connection(api), TOKENS.issue("acme", "ada")
    statuses = []
    for method, answer in (("GET", "a"), ("DELETE", ""), ("HEAD", ""), ("GET", "b")):
        functions.answer = {"statusCode": 200 if answer else 204, "body": answer}
        client.request(method, "/things/1", headers={"Authorization": token})
        before, got = client.sock, client.getresponse()
        statuses.append((got.status, got.read().decode()))
        assert client.sock is before is not None
    client.close()
    assert statuses == [(200, "a"), (204, ""), (404, ""), (200, "b")]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /things HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"POST /things HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST /things HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n", b"400"),
        (b"POST /things HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", b"400"),
    ],
)
def test_a_request_whose_end_is_unclear_is_refused_and_ends_its_connection(
    api: ApiGateway, functions: Functions, head: bytes, status: bytes
) -> None:
    host, _, port = api.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(head)
        said = b"".join(iter(lambda: client.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 " + status)
    assert functions.events == []


def test_requests_are_answered_side_by_side(functions: Functions) -> None:
    together = threading.Barrier(8)

    def meet(function: str, event: dict[str, Any]) -> dict[str, Any]:
        together.wait(20)
        return {"statusCode": 200}

    with ApiGateway(ROUTES, meet, TOKENS) as api, ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda _: ask(api).status_code, range(8)))
    assert answers == [200] * 8


def test_after_the_block_no_server_answers_and_no_connection_is_left(functions: Functions) -> None:
    with ApiGateway(ROUTES, functions, TOKENS) as api:
        client = connection(api)
        client.request("GET", "/things", headers={"Authorization": TOKENS.issue("acme", "ada")})
        assert client.getresponse().read() == b"ok"
    kept_alive: Any = client.sock
    assert kept_alive.recv(1) == b""
    client.close()
    with pytest.raises(requests.ConnectionError):
        ask(api)
