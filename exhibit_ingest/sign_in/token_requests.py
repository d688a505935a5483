"""Requests to the token endpoint of an issuer (RFC 6749), and to the one that revokes (RFC 7009)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exhibit_ingest.client.open_requests import post
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
    lifetime = body.get("expires_in")
    return Tokens(
        id_token=body["id_token"],
        refresh_token=body.get("refresh_token"),
        expires_in=float(lifetime) if isinstance(lifetime, int | float) else _LIFETIME_S,
    )


def refresh_tokens(issuer: Issuer, refresh_token: str) -> Tokens:
    """Return new tokens; the refresh token of the result is the given one if the issuer keeps it."""
    tokens = request_tokens(issuer, {"grant_type": "refresh_token", "refresh_token": refresh_token})
    return Tokens(tokens.id_token, tokens.refresh_token or refresh_token, tokens.expires_in)


def revoke_token(issuer: Issuer, refresh_token: str) -> None:
    """End a refresh token at its issuer. Raises CommandError if the issuer does not confirm it."""
    if not issuer.revoke:
        raise CommandError("The issuer cannot end a sign-in before its time.")
    form = {"client_id": issuer.client_id, "token": refresh_token, "token_type_hint": "refresh_token"}
    response = post(issuer.revoke, form=form)
    if not response.is_success:
        raise CommandError(f"The issuer did not end the sign-in (it answered {response.status_code}).")


def read_grant_answer(endpoint: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Return the object that an endpoint answers a form with; raise GrantError for an error of RFC 6749."""
    response = post(endpoint, form=form)
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        host = response.url.netloc.decode()
        raise CommandError(f"{host} answered {response.status_code} without JSON. Run the command again.")
    if response.is_success:
        return body
    raise GrantError(str(body.get("error", response.status_code)), str(body.get("error_description") or ""))
