"""Sign-in by a code that is entered on another device (device authorization grant, RFC 8628)."""

from __future__ import annotations

from collections.abc import Callable

from exhibit_ingest.client.failures import UnreachableError
from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.sign_in.issuers import Issuer
from exhibit_ingest.sign_in.surroundings import Clock
from exhibit_ingest.sign_in.token_requests import GrantError, Tokens, read_grant_answer, request_tokens
from exhibit_ingest.stacks.addresses import check_safe

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
# Section 3.5: five seconds between two questions, and five more each time the issuer says that this is too fast.
_INTERVAL_S, _LEAST_S = 5.0, 1.0
_ENDED = "The code has expired. Run the command again."
_DENIED = "The sign-in was refused on the other device."


def sign_in_by_device(issuer: Issuer, say: Callable[[str], None], clock: Clock) -> Tokens:
    """Show a code and where to enter it, wait until it was entered, and return the tokens.

    Raises CommandError if the user refuses, and if the code expires.
    """
    begun = read_grant_answer(issuer.device, {"client_id": issuer.client_id, "scope": issuer.scope})
    try:
        code, page = str(begun["device_code"]), check_safe(str(begun["verification_uri"]))
        user_code, lifetime_s = str(begun["user_code"]), float(begun["expires_in"])
        interval_s = max(float(begun.get("interval", _INTERVAL_S)), _LEAST_S)
    except (KeyError, ValueError, TypeError) as exc:
        text = "The issuer's answer lacks a code, its lifetime or its page (RFC 8628). Ask the operator of the stack."
        raise CommandError(text) from exc
    say(f"Open {shorten_printable(page, 300)} on any device, and enter the code {shorten_printable(user_code, 60)}")
    ends = clock.now() + lifetime_s
    while clock.now() + interval_s < ends:
        clock.sleep(interval_s)
        tokens, slower_s = _ask(issuer, code)
        if tokens:
            return tokens
        interval_s += slower_s
    raise CommandError(_ENDED)


def _ask(issuer: Issuer, code: str) -> tuple[Tokens | None, float]:
    """Return the tokens if the code was entered, and by how many seconds to ask less often."""
    try:
        return request_tokens(issuer, {"grant_type": _GRANT, "device_code": code}), 0
    except UnreachableError as exc:
        if exc.is_final:
            raise
        return None, _INTERVAL_S
    except GrantError as exc:
        match exc.code:
            case "authorization_pending":
                return None, 0
            case "slow_down":
                return None, _INTERVAL_S
            case "expired_token":
                raise CommandError(_ENDED) from exc
            case "access_denied":
                raise CommandError(_DENIED) from exc
        raise
