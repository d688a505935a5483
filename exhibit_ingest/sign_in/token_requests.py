"""Requests to the token endpoint of an issuer (RFC 6749), and to the one that revokes (RFC 7009)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exhibit_ingest.client.failures import UnreachableError
from exhibit_ingest.client.open_requests import post
from exhibit_ingest.client.tokens import check_token
from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.sign_in.issuers import Issuer

_LIFETIME_S = 3600
_LONGEST = 300


@dataclass(frozen=True)
class Tokens:
    """What an issuer has issued; `expires_in` is the lifetime of the id token in seconds."""

    id_token: str
    refresh_token: str | None
    expires_in: float


class GrantError(CommandError):
    """The issuer refused a grant; `code` is its word for the reason, such as `invalid_grant`."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(f"The sign-in was refused: {shorten_printable(description or code, _LONGEST)}.")
        self.code = code


def request_tokens(issuer: Issuer, grant: Mapping[str, str]) -> Tokens:
    """Return the tokens for a grant. Raises GrantError if it is refused, and CommandError for every other failure."""
    body = read_grant_answer(issuer.token, {"client_id": issuer.client_id, **grant})
    if not isinstance(body.get("id_token"), str):
        raise CommandError("The issuer sent no id token: its client needs the scope openid. Ask the operator.")
    refresh_token = body.get("refresh_token")
    return Tokens(
        id_token=check_token(body["id_token"], "The answer of the issuer"),
        refresh_token=refresh_token if isinstance(refresh_token, str) and refresh_token else None,
        expires_in=read_lifetime(body.get("expires_in")),
    )


def read_lifetime(stated: object) -> float:
    """Return the lifetime that an issuer states in seconds, an hour where it states none that makes sense."""
    seconds = float(stated) if isinstance(stated, int | float) else math.nan
    return seconds if 0 <= seconds < math.inf else _LIFETIME_S


def refresh_tokens(issuer: Issuer, refresh_token: str) -> Tokens:
    """Return new tokens; the refresh token of the result is the given one if the issuer keeps it."""
    tokens = request_tokens(issuer, {"grant_type": "refresh_token", "refresh_token": refresh_token})
    return Tokens(tokens.id_token, tokens.refresh_token or refresh_token, tokens.expires_in)


def revoke_token(issuer: Issuer, refresh_token: str) -> None:
    """End a refresh token at its issuer. Raises CommandError if the issuer does not confirm it."""
    if not issuer.revoke:
        raise CommandError("The issuer cannot end it before its time. If it may be known to others, ask the operator.")
    form = {"client_id": issuer.client_id, "token": refresh_token, "token_type_hint": "refresh_token"}
    response = post(issuer.revoke, form=form)
    if not response.is_success:
        raise CommandError(
            f"The issuer did not end the sign-in (it answered {response.status_code}). If it may be known to others,"
            " ask the operator."
        )


def read_grant_answer(endpoint: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Return the object that an endpoint answers a form with.

    Raises GrantError for an error of RFC 6749, UnreachableError for a failure of the server, which may pass, and
    CommandError for anything else.
    """
    response = post(endpoint, form=form)
    host = response.url.netloc.decode()
    if response.is_server_error:
        raise UnreachableError(f"{host} answered {response.status_code}. Run the command again in a minute.")
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise CommandError(f"{host} answered {response.status_code} without JSON. Run the command again.")
    if response.is_success:
        return body
    raise GrantError(str(body.get("error", response.status_code)), str(body.get("error_description") or ""))
