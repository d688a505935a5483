"""The sign-in of the command against a played API and a played Cognito: real servers, a browser that follows."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, WRONG_USAGE
from exhibit_ingest.session.commands import run
from exhibit_ingest.session.session import Context
from exhibit_ingest.sign_in.providers import RenewedToken, open_provider
from exhibit_ingest.sign_in.secret_store import SecretStore
from exhibit_ingest.sign_in.surroundings import Surroundings
from exhibit_ingest.sign_in.token_requests import Tokens
from tests.support.sign_in.fake_keyring import FakeKeyring
from tests.support.sign_in.free_ports import find_free_ports
from tests.support.sign_in.played_api import ME, PlayedApi
from tests.support.sign_in.played_issuer import PlayedIssuer


@dataclass
class Desk:
    """A user at a machine: `browse` is what the browser does with a page, `paste` what is typed."""

    api: PlayedApi
    issuer: PlayedIssuer
    around: Surroundings
    said: list[str] = field(default_factory=list)

    def run(self, *arguments: str, **changes: Any) -> int:
        return run(build_parser().parse_args(arguments), Context(replace(self.around, **changes)))

    def stored(self) -> str:
        """Everything that is in files of the folder."""
        return "".join(each.read_text(encoding="utf-8") for each in sorted(self.around.folder.glob("*")))


def browse(page: str) -> None:
    """Follow the page to where it leads, as a browser does beside the command."""
    Thread(target=lambda: httpx.get(page, follow_redirects=True, trust_env=False, timeout=60)).start()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    ports = find_free_ports(3)
    said: list[str] = []
    with PlayedIssuer(tuple(f"http://localhost:{port}/" for port in ports)).run() as issuer:
        assert isinstance(issuer, PlayedIssuer)
        api = PlayedApi(issuer.cognito, lambda token: token in issuer.valid)
        around = Surroundings(
            folder=tmp_path / "folder",
            environment={},
            secrets=SecretStore(tmp_path / "folder", FakeKeyring()),
            say=said.append,
            read=lambda: "",
            open_page=browse,
            ports=ports,
        )
        with api.run():
            yield Desk(api, issuer, around, said)


def test_login_by_the_browser_then_whoami_by_the_refresh_token(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert desk.run("login", desk.api.url, "--name", "firm") == DONE
    assert "as ada@example.com (0f3a), tenant firm, role editor." in capsys.readouterr().out
    assert desk.run("whoami", "--json") == DONE
    assert json.loads(capsys.readouterr().out) == {"stack": "firm", "url": desk.api.url, "me": ME}
    # Each process has an id token of its own; no file has a token.
    first, second = desk.api.tokens
    assert first != second
    (refresh_token,) = desk.issuer.refresh_tokens
    assert not any(each in desk.stored() for each in (first, second, refresh_token))
    assert stat.S_IMODE((desk.around.folder / "stacks.json").stat().st_mode) == 0o600
    assert desk.run("whoami") == DONE
    assert "Cases              Acme; Smith v. Jones" in capsys.readouterr().out


def test_a_stack_whose_console_has_no_sign_in_yet_has_one_for_the_command(desk: Desk) -> None:
    desk.api.sign_in = {**desk.issuer.cognito, "kind": "none"}
    assert desk.run("login", desk.api.url, "--name", "firm") == desk.run("whoami") == DONE
    assert desk.around.load().stacks["firm"].sign_in["kind"] == "cognito"


def test_a_browser_on_another_machine_pastes_its_address_or_the_code(desk: Desk) -> None:
    desk.issuer.redirects = ("http://localhost:8976/",)

    def paste(change: Callable[[httpx.URL], str]) -> Callable[[], str]:
        def read() -> str:
            page = next(line for line in desk.said[-1].splitlines() if line.startswith(desk.issuer.url))
            return change(httpx.URL(httpx.get(page, trust_env=False, timeout=60).headers["location"])) + "\n"

        return read

    login = ("login", desk.api.url, "--no-browser")
    assert desk.run(*login, read=paste(str)) == DONE
    assert desk.run(*login, read=paste(lambda url: url.params["code"])) == DONE
    with pytest.raises(CommandError, match="of another sign-in"):
        desk.run(*login, read=paste(lambda url: str(url.copy_set_param("state", "x"))))
    with pytest.raises(CommandError, match="it has no code"):
        desk.run(*login, read=lambda: "")


def test_a_page_that_sends_the_browser_here_with_another_state_ends_nothing(desk: Desk) -> None:
    answers, threads = list[int](), list[Thread]()

    def attack(page: str) -> None:
        def follow() -> None:
            back = httpx.URL(httpx.get(page, trust_env=False, timeout=60).headers["location"])
            answers.extend(
                httpx.get(each, trust_env=False, timeout=60).status_code
                for each in (back.copy_set_param("state", "x"), back.copy_with(path="/favicon.ico"), back, back)
                if not answers or answers[-1] != 200
            )

        threads.append(Thread(target=follow))
        threads[0].start()

    assert desk.run("login", desk.api.url, open_page=attack) == DONE
    threads[0].join()
    assert answers[:3] == [404, 404, 200]


def test_a_refusal_keeps_nothing(desk: Desk) -> None:
    desk.issuer.is_refusing = True
    with pytest.raises(CommandError, match="refused: User\ufffd refused") as caught:
        desk.run("login", desk.api.url)
    assert caught.value.exit_code == FAILED
    desk.issuer.is_refusing, desk.api.accepts = False, lambda _: False
    with pytest.raises(CommandError):
        desk.run("login", desk.api.url)
    assert desk.stored() == ""


def test_a_browser_that_never_comes_back_is_not_waited_for_and_busy_ports_are_named(desk: Desk) -> None:
    from exhibit_ingest.sign_in.browser import sign_in_by_browser
    from exhibit_ingest.sign_in.issuers import Issuer
    from exhibit_ingest.sign_in.loopback import listen

    issuer, silent = Issuer("c", desk.issuer.url, f"{desk.issuer.url}/oauth2/authorize"), desk.said.append
    ports = desk.around.ports
    with pytest.raises(CommandError, match=r"No sign-in came back.*--no-browser"):
        sign_in_by_browser(issuer, "u", silent, open_page=lambda _: None, ports=ports, patience_s=0.1)
    with listen(ports[:1], ""), pytest.raises(CommandError, match="are in use on this machine"):
        sign_in_by_browser(issuer, "u", silent, open_page=lambda _: None, ports=ports[:1])


def test_a_rotated_refresh_token_is_kept_and_a_revoked_one_needs_a_login(desk: Desk) -> None:
    desk.issuer.is_rotating = True
    desk.run("login", desk.api.url, "--name", "firm")
    assert desk.run("whoami") == desk.run("whoami") == DONE
    desk.issuer.refresh_tokens.clear()
    with pytest.raises(CommandError, match=rf"sign-in to firm has ended\. Sign in: .*login {desk.api.url} --name firm"):
        desk.run("whoami")


def test_a_token_is_renewed_before_it_ends_and_when_the_api_refuses_it(desk: Desk) -> None:
    desk.run("login", desk.api.url)
    stack = next(iter(desk.around.load().stacks.values()))
    desk.issuer.lifetime_s = 0
    provider = open_provider(stack, {}, desk.around.store)
    assert provider.get_token() != provider.get_token()
    desk.issuer.lifetime_s = 3600
    kept = provider.get_token()
    assert provider.get_token() == kept
    renewed = provider.renew_token(kept)
    assert renewed != kept
    # Of two threads whose token was refused, the second gets what the first has obtained.
    assert provider.renew_token(kept) == renewed


def test_a_wrong_clock_does_not_matter_to_the_sign_in(desk: Desk) -> None:
    desk.issuer.ahead_s = desk.api.ahead_s = 5 * 3600
    assert desk.run("login", desk.api.url) == desk.run("whoami") == DONE
    obtained: list[Tokens] = []

    def obtain() -> Tokens:
        obtained.append(Tokens(f"token {len(obtained)}", None, 3600))
        return obtained[-1]

    provider = RenewedToken(obtain)
    assert provider.get_token() == provider.get_token() == "token 0"


def test_logout_revokes_and_deletes_and_says_if_it_could_not_revoke(desk: Desk) -> None:
    desk.run("login", desk.api.url, "--name", "firm")
    assert desk.run("logout") == DONE
    assert desk.issuer.refresh_tokens == set()
    with pytest.raises(CommandError, match="not signed in to firm"):
        desk.run("whoami")
    desk.run("login", desk.api.url, "--name", "firm")
    stored = desk.around.folder / "stacks.json"
    stored.write_text(stored.read_text().replace("/oauth2/revoke", "/gone"))
    assert desk.run("logout") == FAILED
    assert "may be valid until its time is over" in desk.said[-1]
    assert desk.around.store.load(f"firm {desk.api.url}") is None


def test_a_server_that_names_the_sign_in_of_a_known_stack_gets_no_token(desk: Desk) -> None:
    desk.run("login", desk.api.url, "--name", "firm")
    other = PlayedApi(desk.issuer.cognito, lambda token: token in desk.issuer.valid)
    with other.run():
        with pytest.raises(WrongUsageError, match=r"names the sign-in of the stack firm .*stacks --remove firm"):
            desk.run("login", other.url, "--name", "prize")
        assert other.tokens == []
        assert desk.run("stacks", "--remove", "firm") == DONE
        assert desk.run("login", other.url, "--name", "prize") == DONE


def test_stacks_are_listed_chosen_and_removed(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("firm", "other"):
        desk.run("login", desk.api.url, "--name", name)
    assert "The default is firm." in desk.said[-1]
    capsys.readouterr()
    assert desk.run("stacks", "--default", "other", "--json") == DONE
    listed = json.loads(capsys.readouterr().out)
    one = {"url": desk.api.url, "sign_in": "cognito", "signed_in": True}
    assert listed == {"default": "other", "stacks": [{"name": "firm", **one}, {"name": "other", **one}]}
    assert desk.run("stacks", "--remove", "other") == DONE
    assert "other" not in desk.stored()
    # The other stack has the same address, and a sign-in of its own.
    assert len(desk.issuer.refresh_tokens) == 1
    assert desk.run("whoami", "--stack", "firm") == DONE
    with pytest.raises(WrongUsageError, match="Did you mean firm"):
        desk.run("whoami", "--stack", "frim")
    with pytest.raises(WrongUsageError, match=r"No stack is the default.*stacks --default NAME"):
        desk.run("logout")
    capsys.readouterr()
    assert desk.run("whoami", "--json", "--stack", "frim") == WRONG_USAGE
    assert "Did you mean firm" in json.loads(capsys.readouterr().out)["error"]
    with pytest.raises(WrongUsageError, match="Give this one another --name"):
        desk.run("login", "https://elsewhere.example", "--name", "firm")
