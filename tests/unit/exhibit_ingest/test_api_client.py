"""The client of the API against a real server: keys, retries, tokens, and the sentence of each failure."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.client.api import Api
from exhibit_ingest.client.failures import UnreachableError
from exhibit_ingest.client.versions import read_me
from exhibit_ingest.client.waiting import Patience
from exhibit_ingest.errors import CommandError
from exhibit_ingest.exit_codes import FAILED, WRONG_USAGE
from exhibit_ingest.sign_in.providers import FixedToken
from tests.support.servers.tls_server import Authority
from tests.support.sign_in.played_api import ME, UNAUTHORIZED
from tests.support.sign_in.played_server import Answer, PlayedServer, Received

OK = Answer(body={"id": 7})
LOST = Answer(None)
PROBLEM = "urn:exhibit-ingest:problem:"
HOURS = 3600


class FakeTime:
    """A clock that waiting moves."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)

    def patience(self) -> Patience:
        return Patience(sleep=self.sleep, clock=lambda: self.now)


class Play:
    """A server that gives the answers in order, the last one for ever, and a client for it."""

    def __init__(self, server: PlayedServer) -> None:
        self.server, self.time, self.said = server, FakeTime(), list[str]()
        self.answers: list[Answer] = []
        server.decide = self._next
        self.api = Api(server.url, FixedToken("token"), patience=self.time.patience(), say=self.said.append)

    def _next(self, _: Received) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def fail(self, *answers: Answer, method: str = "GET") -> CommandError:
        self.answers = [*answers]
        with pytest.raises(CommandError) as caught:
            self.api.request(method, "/imports", {} if method == "POST" else None)
        return caught.value


@pytest.fixture
def play() -> Iterator[Play]:
    with PlayedServer(lambda _: OK).run() as server:
        made = Play(server)
        with made.api:
            yield made


def problem(status: int, code: str, detail: str, **more: Any) -> Answer:
    body = {"type": PROBLEM + code, "status": status, "detail": detail, **more}
    return Answer(status, body, kind="application/problem+json")


def test_an_act_keeps_its_key_and_body_however_often_it_is_sent(play: Play) -> None:
    later = Answer(503, {"message": "Service Unavailable"})
    play.answers = [LOST, later, Answer(409, {}, {"Retry-After": "3"}), OK]
    assert play.api.request("POST", "/imports", {"case": "Smith — Jones"}) == {"id": 7}
    sent = [(each.headers["idempotency-key"], each.body) for each in play.server.received]
    assert len(sent) == 4
    assert len({*sent}) == 1
    assert json.loads(sent[0][1]) == {"case": "Smith — Jones"}
    play.api.request("POST", "/imports", {})
    assert play.server.received[-1].headers["idempotency-key"] != sent[0][0]
    play.api.request("POST", "/imports", {}, key="kept")
    assert play.server.received[-1].headers["idempotency-key"] == "kept"


def test_waits_grow_have_a_random_part_and_follow_the_server(play: Play) -> None:
    play.answers = [Answer(429, {"message": "Too Many Requests"})] * 3 + [Answer(503, {}, {"Retry-After": "20"}), OK]
    play.api.request("GET", "/imports")
    for slept, least in zip(play.time.slept, (1, 2, 4, 20), strict=True):
        assert least <= slept <= least * 1.5
    assert [each for each in play.time.slept if each != int(each)]


def test_a_server_that_says_not_to_wait_is_left_alone_longer_each_time(play: Play) -> None:
    play.fail(Answer(503, {"message": "Service Unavailable"}, {"Retry-After": "0"}))
    assert len(play.server.received) <= 8
    assert play.time.slept[0] >= 1


def test_what_the_server_refuses_is_not_sent_again(play: Play) -> None:
    error = play.fail(problem(422, "file-refused", "The file is empty."), method="POST")
    assert (str(error), error.exit_code, len(play.server.received)) == ("The file is empty.", FAILED, 1)


@pytest.mark.parametrize(
    ("answer", "sentence", "code"),
    [
        (
            problem(
                400, "invalid-request", "1 field is wrong", errors=[{"location": "body.case", "message": "too long"}]
            ),
            "1 field is wrong: body.case: too long.",
            WRONG_USAGE,
        ),
        (problem(403, "role-required", "The route requires the role editor."), "Ask the administrator", FAILED),
        (problem(404, "not-found", "There is no such case."), "your tenant", WRONG_USAGE),
        (Answer(413, {"message": "Request Too Long"}), "Request Too Long.", FAILED),
        (Answer(429, {"message": "Too Many Requests"}), "in a minute", FAILED),
        (
            Answer(500, {"message": "Internal\x1b[2J"}, {"apigw-requestid": "r1"}),
            "the number of this request: r1",
            FAILED,
        ),
        (UNAUTHORIZED, "Set a new one", FAILED),
        (Answer(200, "<html>Sign in to the guest network", kind="text/html"), "a proxy or the sign-in page", FAILED),
        (Answer(502, "<html>Bad gateway", kind="text/html; charset=utf-8"), "502 with text/html instead", FAILED),
        (Answer(302, headers={"Location": "http://portal.example/x"}), "a redirect to portal.example", FAILED),
        (Answer(200, "{", kind="application/json"), "instead of JSON", FAILED),
    ],
)
def test_a_failure_is_one_sentence_with_the_next_step(play: Play, answer: Answer, sentence: str, code: int) -> None:
    error = play.fail(answer)
    assert sentence in str(error)
    assert str(error).isprintable()
    assert error.exit_code == code
    assert play.time.now <= 60


def test_a_database_that_resumes_is_waited_for_and_people_learn_why(play: Play) -> None:
    play.answers = [Answer(503, {"type": f"{PROBLEM}waking-up"}, {"Retry-After": "5"})] * 2 + [OK]
    assert play.api.request("GET", "/imports") == {"id": 7}
    assert "half a minute" in play.said[0]


def test_a_refused_token_and_a_wrong_clock_are_told_apart(play: Play) -> None:
    play.server.ahead_s = 3 * HOURS
    assert "3 hours behind the server's. Set the clock" in str(play.fail(UNAUTHORIZED))
    play.server.ahead_s = -600
    assert "10 minutes ahead of the server's. Set the clock" in str(play.fail(UNAUTHORIZED))


def test_a_refused_token_is_renewed_once() -> None:
    class Renewed(FixedToken):
        def renew_token(self, refused: str) -> str:
            return f"{refused}+"

    def decide(request: Received) -> Answer:
        return OK if request.headers["authorization"] == "Bearer token+" else UNAUTHORIZED

    with PlayedServer(decide).run() as server, Api(server.url, Renewed("token")) as api:
        assert api.request("GET", "/imports") == {"id": 7}
        server.decide = lambda _: UNAUTHORIZED
        with pytest.raises(ApiError, match="refused the token"):
            api.request("GET", "/imports")
        assert len(server.received) == 4


def test_a_newer_api_and_a_missing_route_are_named_with_their_versions(play: Play) -> None:
    play.server.decide = lambda request: (
        Answer(body=ME) if request.path == "/me" else Answer(404, {"message": "Not Found"})
    )
    assert read_me(play.api) == ME
    with pytest.raises(ApiError, match=r"has version 0\.1\.0, without `GET /new`.*Ask the operator to update"):
        play.api.request("GET", "/new?limit=1")
    play.server.decide = lambda _: Answer(body={**ME, "version": "2.3.0"})
    with pytest.raises(CommandError, match=r"version 2\.3\.0; .* pipx install --force"):
        read_me(play.api)
    play.server.decide = lambda _: Answer(404, {"message": "Not Found"})
    with pytest.raises(CommandError, match="not the API of a stack, or older"):
        read_me(play.api)


def fail_at(url: str) -> tuple[UnreachableError, FakeTime]:
    time = FakeTime()
    with Api(url, FixedToken("token"), patience=time.patience()) as api, pytest.raises(UnreachableError) as caught:
        api.request("GET", "/me")
    return caught.value, time


def test_without_a_connection_the_client_tries_again_for_seconds_then_says_what_to_check() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        error, time = fail_at(f"http://127.0.0.1:{free.getsockname()[1]}")
    assert "Check the network connection, VPN and proxy" in str(error)
    assert 0 < time.now <= 8
    error, _ = fail_at("http://no-such-host.invalid")
    assert "no-such-host.invalid was not found" in str(error)


def test_a_certificate_that_cannot_be_verified_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    authority = Authority(tmp_path, "inspecting proxy")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*authority.certificate("127.0.0.1"))
    with PlayedServer(lambda _: Answer(body=ME), tls).run() as server:
        error, time = fail_at(server.url)
        assert "ask its administrator for the root certificate, and set SSL_CERT_FILE" in str(error)
        assert (time.slept, server.received) == ([], [])
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        with Api(server.url, FixedToken("token")) as api:
            assert read_me(api) == ME
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
        with pytest.raises(CommandError, match="Check SSL_CERT_FILE"):
            Api(server.url, FixedToken("token"))
