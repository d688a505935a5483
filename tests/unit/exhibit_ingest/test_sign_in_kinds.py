"""Other ways to a token than the browser: a device code, the key of a local link, a variable, a command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.session.commands import run
from exhibit_ingest.session.session import Context
from exhibit_ingest.sign_in.providers import TOKEN_VARIABLE
from exhibit_ingest.sign_in.secret_store import SecretStore
from exhibit_ingest.sign_in.surroundings import Clock, Surroundings
from exhibit_ingest.stacks.choice import STACK_VARIABLE
from local.gateway.events import HttpRequest
from local.gateway.sign_in import SIGN_IN_PATH, SignIn
from local.gateway.tokens import Tokens
from local.stack.options import REPOSITORY
from local.template.reader import Template
from tests.support.sign_in.fake_keyring import FakeKeyring
from tests.support.sign_in.played_api import PlayedApi
from tests.support.sign_in.played_issuer import PlayedIssuer
from tests.support.sign_in.played_server import Answer, Received


class Desk:
    """A user at a machine without a browser, whose clock moves when a command waits."""

    def __init__(self, folder: Path) -> None:
        self.now, self.slept, self.said = 0.0, list[float](), list[str]()
        self.environment: dict[str, str] = {}
        self.pasted = ""
        self.around = Surroundings(
            folder=folder,
            environment=self.environment,
            secrets=SecretStore(folder, FakeKeyring()),
            say=self.said.append,
            read=lambda: self.pasted,
            clock=Clock(lambda: self.now, self._sleep),
        )

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)

    def run(self, *arguments: str) -> int:
        return run(build_parser().parse_args(arguments), Context(self.around))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "folder")


@contextmanager
def play_issuer(*device_answers: str) -> Iterator[tuple[PlayedIssuer, PlayedApi]]:
    issuer = PlayedIssuer()
    issuer.device_answers = [*device_answers]
    api = PlayedApi(issuer.other, lambda token: token in issuer.valid)
    with issuer.run(), api.run():
        yield issuer, api


def test_a_code_is_entered_on_another_device(desk: Desk) -> None:
    with play_issuer("authorization_pending", "slow_down", "authorization_pending", "entered") as (issuer, api):
        assert desk.run("login", api.url) == DONE
        assert f"Open {issuer.url}/enter on any device, and enter the code WDJB-MJHT" in desk.said[0]
        # After slow_down, five seconds more (RFC 8628, section 3.5).
        assert desk.slept == [5, 5, 10, 10]
        request = next(each.form for each in issuer.received if each.path == "/device")
        assert request["scope"] == "openid email profile offline_access"
        assert desk.run("whoami") == desk.run("logout") == DONE
        assert issuer.refresh_tokens == set()


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["access_denied"], "refused on the other device"),
        (["authorization_pending", "expired_token"], "code has expired"),
        (["authorization_pending"] * 20, "code has expired"),
        (["invalid_client"], "The sign-in was refused: invalid_client"),
    ],
)
def test_a_device_grant_that_fails_says_why(desk: Desk, answers: list[str], message: str) -> None:
    with play_issuer(*answers) as (_, api), pytest.raises(CommandError, match=message):
        desk.run("login", api.url)
    assert desk.now <= 60
    assert not desk.around.folder.exists()


def test_an_issuer_without_a_device_grant_is_answered_with_the_ways_that_remain(desk: Desk) -> None:
    with play_issuer() as (_, api), pytest.raises(CommandError, match=r"EXHIBIT_INGEST_TOKEN .* --token-command"):
        desk.run("login", api.url)
    with play_issuer("entered") as (issuer, api):
        api.sign_in = {**issuer.other, "issuer": f"{issuer.url}/"}
        assert desk.run("login", api.url) == DONE
        api.sign_in = {**issuer.other, "issuer": "http://elsewhere.example"}
        with pytest.raises(WrongUsageError, match="is not encrypted"):
            desk.run("login", api.url)
        api.sign_in = {"kind": "none"}
        with pytest.raises(CommandError, match="no sign-in for people"):
            desk.run("login", api.url)


@contextmanager
def play_local_stack(folder: Path) -> Iterator[tuple[PlayedApi, SignIn]]:
    """An API whose key is exchanged by the code of `serve`."""
    sign_in = SignIn(Tokens.load(folder, Template.load(REPOSITORY / "template.yaml")))
    issued: set[str] = set()
    api = PlayedApi({"kind": "local"}, issued.__contains__)

    def decide(request: Received) -> Answer:
        if request.path != SIGN_IN_PATH:
            return PlayedApi._decide(api, request)
        pairs = [*request.headers.items()]
        response = sign_in.handle(HttpRequest(request.method, request.path, "", pairs, request.body, "127.0.0.1"))
        if response.status == 200:
            issued.add(response.body.decode().split('"')[3])
        return Answer(response.status, response.body.decode())

    api.decide = decide
    with api.run():
        yield api, sign_in


def test_the_key_of_a_local_link_is_exchanged_as_the_console_does(desk: Desk, tmp_path: Path) -> None:
    with play_local_stack(tmp_path) as (api, sign_in):
        link = f"{api.url}/console/#key={sign_in.key}"
        assert desk.run("login", link, "--name", "mine") == DONE
        assert desk.run("whoami") == DONE
        # As an argument, the key is in the list of processes: it can be pasted.
        desk.pasted = f"{link}\n"
        assert desk.run("login", api.url, "--name", "mine") == DONE
        desk.pasted = link.replace(api.url, "http://127.0.0.1:1")
        with pytest.raises(WrongUsageError, match="The address has no key"):
            desk.run("login", api.url, "--name", "mine")
        desk.pasted = ""
        assert sign_in.key not in (desk.around.folder / "stacks.json").read_text()
        sign_in.key = "of the next start"
        with pytest.raises(CommandError, match=r"has changed or is missing\. Copy the link that .*serve printed"):
            desk.run("whoami")
        with pytest.raises(WrongUsageError, match="The address has no key"):
            desk.run("login", f"{api.url}/console/")
        assert desk.run("logout") == DONE


def test_a_variable_counts_before_every_sign_in_and_needs_none(desk: Desk) -> None:
    api = PlayedApi(None, lambda given: given == "of-a-pipeline")
    with api.run():
        desk.environment.update({STACK_VARIABLE: api.url, TOKEN_VARIABLE: "of-a-pipeline\n"})
        assert desk.run("whoami") == DONE
        desk.environment[TOKEN_VARIABLE] = "of-yesterday"
        with pytest.raises(CommandError, match="refused the token in EXHIBIT_INGEST_TOKEN"):
            desk.run("whoami")
        del desk.environment[TOKEN_VARIABLE]
        with pytest.raises(CommandError, match=r"not signed in to 127\.0\.0\.1-\d+\. Sign in: .*login http"):
            desk.run("whoami")


def test_a_command_that_prints_a_token_is_kept_and_run_again_when_the_api_refuses_it(
    desk: Desk, tmp_path: Path
) -> None:
    script = tmp_path / "print token.py"
    count = tmp_path / "count"
    script.write_text(f"p = {str(count)!r}\nopen(p, 'a').write('x')\nprint(f'token-{{len(open(p).read())}}')\n")
    command = shlex.join([sys.executable, str(script)])
    api = PlayedApi(None, lambda given: given == "token-1")
    with api.run():
        assert desk.run("login", api.url, "--token-command", command) == DONE
        api.accepts = lambda given: given == "token-3"
        assert desk.run("whoami") == DONE
        assert api.tokens == ["token-1", "token-2", "token-3"]
        with pytest.raises(WrongUsageError, match=r"come from a command\. .*stacks --remove"):
            desk.run("logout")
        for broken in ("no-such-program", f"{shlex.quote(sys.executable)} -c exit(3)", '"unbalanced'):
            with pytest.raises(CommandError, match="The token command"):
                desk.run("login", api.url, "--token-command", broken)
