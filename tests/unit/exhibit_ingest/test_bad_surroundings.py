"""What the command says where the way to the stack is broken: one sentence, the next step, and an exit code."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from exhibit_ingest.cli.main import main
from exhibit_ingest.exit_codes import FAILED, WRONG_USAGE
from exhibit_ingest.sign_in.surroundings import Surroundings
from tests.support.servers.tls_server import Authority
from tests.support.sign_in.played_api import ME, UNAUTHORIZED
from tests.support.sign_in.played_server import Answer, PlayedServer

Run = Callable[[str], tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs `whoami` with a stack; returns the exit code and what it printed for people, which -rP shows."""
    said = list[str]()

    def execute(stack: str) -> tuple[int, str]:
        around = Surroundings(folder=tmp_path, environment={"EXHIBIT_INGEST_TOKEN": "t"})
        code = main(["whoami", "--stack", stack], around=around)
        out, error = capsys.readouterr()
        assert out == ""
        said.append(f"[{code}] {error.strip()}")
        return code, error

    yield execute
    print("\n".join(said))


@contextmanager
def answering(answer: Answer, *, ahead_s: float = 0) -> Iterator[str]:
    """The address of a server that always gives the answer; its clock is ahead of this machine's."""
    with PlayedServer(lambda _: answer).run() as server:
        server.ahead_s = ahead_s
        yield server.url


def assert_said(found: tuple[int, str], code: int, *parts: str) -> None:
    """The exit code, and one sentence or two with these parts, before the way to the help."""
    lines = found[1].splitlines()
    assert (found[0], len(lines)) == (code, 2 if code == WRONG_USAGE else 1)
    assert [part for part in parts if part not in lines[0]] == []


def test_a_stack_that_is_not_known(run: Run) -> None:
    assert_said(run("firm"), WRONG_USAGE, "There is no stack 'firm'.", "login URL")


@pytest.mark.slow
def test_no_server(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert_said(run(f"http://127.0.0.1:{port}"), FAILED, "No connection to 127.0.0.1", "Check the network connection")


def test_a_certificate_that_cannot_be_verified(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*Authority(tmp_path, "unknown").certificate("127.0.0.1"))
    with PlayedServer(lambda _: Answer(body=ME), tls=context).run() as server:
        assert_said(run(server.url), FAILED, "cannot be verified", "SSL_CERT_FILE")


def test_a_refused_token_and_a_wrong_clock(run: Run) -> None:
    with answering(UNAUTHORIZED) as url:
        assert_said(run(url), FAILED, "refused the token in EXHIBIT_INGEST_TOKEN", "Set a new one")
    with answering(UNAUTHORIZED, ahead_s=7200) as url:
        assert_said(run(url), FAILED, "2 hours behind the server's", "Set the clock")


def test_a_page_instead_of_the_api(run: Run) -> None:
    with answering(Answer(200, "<html>Guest network", kind="text/html")) as url:
        assert_said(run(url), FAILED, "with text/html instead of JSON", "a proxy or the sign-in page")


def test_an_api_of_another_version(run: Run) -> None:
    with answering(Answer(body={**ME, "version": "9.0.0"})) as url:
        assert_said(run(url), FAILED, "has version 9.0.0", "Request the newer wheel")
    with answering(Answer(404, {"message": "Not Found"})) as url:
        assert_said(run(url), FAILED, "has no `GET /me`", "ask its operator")
