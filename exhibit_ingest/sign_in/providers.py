"""The providers of tokens: a variable of the environment, a command, or a refresh token that is kept.

Guaranteed: an id token is in memory alone. Its end is counted from its arrival by a clock that no one sets, so it does
not matter what time this machine or the issuer believes it is.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping

from exhibit_ingest.client.tokens import TokenProvider, check_token
from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.sign_in.issuers import restore_issuer
from exhibit_ingest.sign_in.local_key import exchange_key
from exhibit_ingest.sign_in.secret_store import SecretStore
from exhibit_ingest.sign_in.token_requests import GrantError, Tokens, refresh_tokens
from exhibit_ingest.stacks.configuration import Stack

TOKEN_VARIABLE = "EXHIBIT_INGEST_TOKEN"  # noqa: S105
_EARLY_S, _EARLY_PART = 300, 0.1
_COMMAND_S = 120
_CHECK = "Run it in a shell to see why; `login --token-command` names another one."


class FixedToken:
    """A token that the user has set."""

    def __init__(self, token: str) -> None:
        self._token = token

    def get_token(self) -> str:
        """Return the token."""
        return self._token

    def renew_token(self, refused: str) -> str:
        """Raise CommandError: there is no other."""
        raise CommandError(f"The API refused the token in {TOKEN_VARIABLE}. Set a new one, or none to sign in.")


class RenewedToken:
    """A token that is obtained by `obtain`, when there is none, before it ends, and when the API has refused it."""

    def __init__(self, obtain: Callable[[], Tokens], first: Tokens | None = None) -> None:
        self._obtain = obtain
        self._lock = threading.Lock()
        self._token, self._ends = "", 0.0
        if first:
            self._keep(first)

    def get_token(self) -> str:
        """Return the token, a new one shortly before the earlier one ends."""
        with self._lock:
            if time.monotonic() >= self._ends:
                self._keep(self._obtain())
            return self._token

    def renew_token(self, refused: str) -> str:
        """Return a token other than the refused one; of many threads that had it, the first obtains it."""
        with self._lock:
            if self._token == refused:
                self._keep(self._obtain())
            return self._token

    def _keep(self, tokens: Tokens) -> None:
        early = min(_EARLY_S, tokens.expires_in * _EARLY_PART)
        self._token, self._ends = tokens.id_token, time.monotonic() + tokens.expires_in - early


def open_provider(
    stack: Stack, environment: Mapping[str, str], store: SecretStore, first: Tokens | None = None
) -> TokenProvider:
    """Return the provider of a stack's tokens; `first` are those of a sign-in that has just ended.

    The variable of the environment counts before what is stored. Raises CommandError if there is no sign-in.
    """
    if token := environment.get(TOKEN_VARIABLE, "").strip():
        return FixedToken(check_token(token, f"The variable {TOKEN_VARIABLE}"))
    if stack.token_command:
        return RenewedToken(lambda: run_token_command(stack.token_command), first)
    if not stack.is_signed_in and not first:
        raise CommandError(f"You are not signed in to {stack.name}. {advise_login(stack)}")
    return RenewedToken(lambda: _renew(stack, store), first)


def advise_login(stack: Stack) -> str:
    """Return how to sign in to the stack."""
    link = "LINK" if stack.sign_in.get("kind") == "local" else stack.url
    named = [] if stack.name in link else ["--name", stack.name]
    return f"Sign in: {format_command('login', link, *named)}"


def run_token_command(command: str) -> Tokens:
    """Return the token that a command prints; it is run again when the API refuses the token.

    Raises CommandError if it cannot be run, fails or prints nothing. What it prints is in no message, and of the
    command only the first word: others can be passwords.
    """
    named = shorten_printable(next(iter(command.split()), ""), 100)
    try:
        # Windows splits the text itself.
        arguments = command if os.name == "nt" else shlex.split(command)
        done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, timeout=_COMMAND_S, check=False)
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "its quotes or its output cannot be read"
        raise CommandError(f"The token command {named} cannot be run: {reason}. {_CHECK}") from exc
    except subprocess.TimeoutExpired as exc:
        raise CommandError(f"The token command {named} did not end within {_COMMAND_S} s. {_CHECK}") from exc
    if done.returncode:
        raise CommandError(f"The token command {named} failed with exit code {done.returncode}. {_CHECK}")
    return Tokens(check_token(done.stdout.strip(), f"What the token command {named} printed"), None, float("inf"))


def _renew(stack: Stack, store: SecretStore) -> Tokens:
    # Some issuers end a sign-in whose refresh token is used twice: two commands at once must not have the same one.
    with store.hold():
        return _renew_alone(stack, store)


def _renew_alone(stack: Stack, store: SecretStore) -> Tokens:
    secret = store.load(stack.secret_name)
    if secret is None:
        raise CommandError(f"You are not signed in to {stack.name} any more. {advise_login(stack)}")
    if stack.sign_in.get("kind") == "local":
        return exchange_key(stack.url, secret)
    try:
        tokens = refresh_tokens(restore_issuer(stack.sign_in), secret)
    except GrantError as exc:
        if exc.code == "invalid_grant":
            raise CommandError(f"Your sign-in to {stack.name} has ended. {advise_login(stack)}") from exc
        raise
    if tokens.refresh_token and tokens.refresh_token != secret:
        store.save(stack.secret_name, tokens.refresh_token)
    return tokens
