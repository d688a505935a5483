"""Sign-in by the hosted page of an issuer: authorization code with PKCE (RFC 7636, RFC 8252).

Guaranteed: a code counts only with the `state` of this sign-in, and only once; the verifier leaves this process for the
token endpoint alone, so a code that another program reads is worth nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.sign_in.issuers import Issuer
from exhibit_ingest.sign_in.loopback import listen
from exhibit_ingest.sign_in.surroundings import PORTS
from exhibit_ingest.sign_in.token_requests import Tokens, request_tokens

_AGAIN = "Run the command again."


@dataclass(frozen=True)
class Attempt:
    """One sign-in: where the browser comes back to, and the secrets that its answer must match."""

    issuer: Issuer
    redirect: str
    state: str
    verifier: str

    @classmethod
    def begin(cls, issuer: Issuer, port: int) -> Attempt:
        """Return a new attempt that comes back to a port of this machine."""
        return cls(issuer, f"http://localhost:{port}/", secrets.token_urlsafe(32), secrets.token_urlsafe(48))

    def build_url(self) -> str:
        """Return the address of the hosted page."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.issuer.client_id,
            "redirect_uri": self.redirect,
            "scope": self.issuer.scope,
            "state": self.state,
            "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return f"{self.issuer.authorize}?{urlencode(query)}"

    def matches(self, query: dict[str, str]) -> bool:
        """Return whether an answer is to this attempt: another page could send the browser here, too."""
        return secrets.compare_digest(query.get("state", "").encode(), self.state.encode())

    def finish(self, query: dict[str, str]) -> Tokens:
        """Return the tokens for the answer of the hosted page; raise CommandError if it is a refusal."""
        if code := query.get("code"):
            grant = {"grant_type": "authorization_code", "redirect_uri": self.redirect, "code_verifier": self.verifier}
            return request_tokens(self.issuer, {**grant, "code": code})
        reason = query.get("error_description") or query.get("error") or "it has no code"
        raise CommandError(f"The sign-in was refused: {shorten_printable(reason, 300)}. {_AGAIN}")


def sign_in_by_browser(
    issuer: Issuer,
    url: str,
    say: Callable[[str], None],
    *,
    open_page: Callable[[str], object],
    ports: tuple[int, ...],
    patience_s: float = 300,
) -> Tokens:
    """Open the hosted page, wait until the browser comes back, and return the tokens.

    Raises CommandError if no port is free, after `patience_s`, and if the sign-in is refused.
    """
    advice = f"Without a browser on this machine: {format_command('login', url, '--no-browser')}"
    with listen(ports, advice) as listener:
        attempt = Attempt.begin(issuer, listener.port)
        page = attempt.build_url()
        say(f"Sign in with your browser. If it does not open a page, open this address:\n{page}\n{advice}")
        # First: a browser in the terminal is waited for.
        listener.begin(attempt.matches)
        open_page(page)
        answer = listener.wait(patience_s)
    if answer is None:
        raise CommandError(f"No sign-in came back within {patience_s / 60:.0f} minutes. {_AGAIN} {advice}")
    return attempt.finish(answer)


def sign_in_by_pasted_code(issuer: Issuer, say: Callable[[str], None], read: Callable[[], str]) -> Tokens:
    """Print the address of the hosted page, read what the browser's address is at the end, and return the tokens.

    Raises CommandError if the text has no code, or one of another sign-in.
    """
    attempt = Attempt.begin(issuer, PORTS[0])
    say(
        f"Open this address in a browser, on any machine, and sign in:\n{attempt.build_url()}\n"
        f"The browser then shows that it cannot open {attempt.redirect}, which is right. Copy the address from its"
        " address bar, or the code in it, and paste it here:"
    )
    text = read().strip()
    if "=" not in text:
        return attempt.finish({"code": text} if text else {})
    query = {name: values[0] for name, values in parse_qs(urlsplit(text).query or text).items()}
    if not attempt.matches(query):
        raise CommandError(f"The pasted address is of another sign-in. {_AGAIN}")
    return attempt.finish(query)
