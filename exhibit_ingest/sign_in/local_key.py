"""Sign-in to a stack on this machine: the key of the link that `serve` prints is exchanged for a token.

The holder of the key chooses who they are; the command is the user of the operating system, with the role of an
administrator. The key is another one each time the stack starts.
"""

from __future__ import annotations

import getpass
from http import HTTPStatus

from exhibit_ingest.client.open_requests import post
from exhibit_ingest.client.tokens import check_token
from exhibit_ingest.errors import CommandError
from exhibit_ingest.program import format_command
from exhibit_ingest.sign_in.token_requests import Tokens, read_lifetime

_PATH = "/console/token"
_TENANT, _ROLE = "local", "admin"


def exchange_key(url: str, key: str) -> Tokens:
    """Return tokens whose refresh token is the key; raise CommandError if the key is not that of the running stack."""
    response = post(f"{url}{_PATH}", json={"key": key, "tenant": _TENANT, "user": find_user_name(), "role": _ROLE})
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        raise CommandError(f"The key of {url} has changed or is missing. {advise_link()}")
    if not response.is_success:
        raise CommandError(f"{url} refused the sign-in ({response.status_code}). {advise_link()}")
    try:
        body = response.json()
        token, lifetime_s = check_token(body["idToken"], f"The answer of {url}"), read_lifetime(body["expiresIn"])
    except (ValueError, KeyError, TypeError) as exc:
        raise CommandError(f"{url} is not the stack that printed the link. {advise_link()}") from exc
    return Tokens(token, key, lifetime_s)


def advise_link() -> str:
    """Return how to get the link with the key."""
    return f"Copy the link that {format_command('serve')} printed: {format_command('login', 'LINK')}"


def find_user_name() -> str:
    """Return the name of the user of the operating system, `me` if it has none."""
    try:
        return getpass.getuser()[:64] or "me"
    except (OSError, KeyError, ImportError):
        return "me"
