"""Sign in to the console on this machine: exchange the key of the link that `serve` prints for a token.

Guaranteed: without the key, or the cookie that an exchange sets, there is no token. The key is in the fragment of the
link, which no browser sends, and new each time `serve` starts. The cookie lets a reload sign in again; no script reads
it, no other site's request has it, and it is sent to this path alone. A request under another name of this machine, as
after DNS rebinding, or from a page of another origin is refused.
Difference from AWS: there the user pool knows the users; here the holder of the key chooses tenant, user and role.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any

from local.gateway.events import HttpRequest, HttpResponse, build_gateway_response
from local.gateway.tokens import Tokens

SIGN_IN_PATH = "/console/token"
_LIFETIME_S = 3600
_LOCAL_NAMES = ("127.0.0.1", "localhost")
_ROLES = ("viewer", "editor", "admin")
_LONGEST_NAME = 64


class SignIn:
    """The exchange of keys for tokens; `key` is new for each object."""

    def __init__(self, tokens: Tokens, make_key: Callable[[], str] = lambda: secrets.token_urlsafe(24)) -> None:
        self._tokens = tokens
        self.key = make_key()

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Return a token for `{"key", "tenant", "user", "role"}`, or 400, 401 or 403; `key` can be the cookie's."""
        host = request.header("host")
        if host.rpartition(":")[0] not in _LOCAL_NAMES or request.header("origin") not in ("", f"http://{host}"):
            return build_gateway_response(HTTPStatus.FORBIDDEN)
        wish = _read_wish(request)
        if wish is None:
            return build_gateway_response(HTTPStatus.BAD_REQUEST)
        cookie = f"exhibit-ingest-{host.rpartition(':')[2]}"
        given = wish.get("key") or _read_cookie(request, cookie)
        if not secrets.compare_digest(str(given).encode(), self.key.encode()):
            return build_gateway_response(HTTPStatus.UNAUTHORIZED)
        token = self._tokens.issue(wish["tenant"], wish["user"], _LIFETIME_S, roles=(wish["role"],), name=wish["user"])
        body = json.dumps({"idToken": token, "expiresIn": _LIFETIME_S}).encode()
        kept = f"{cookie}={self.key}; HttpOnly; SameSite=Strict; Path={SIGN_IN_PATH}"
        headers = [("content-type", "application/json"), ("cache-control", "no-store"), ("set-cookie", kept)]
        return HttpResponse(HTTPStatus.OK, headers, body)


def _read_wish(request: HttpRequest) -> dict[str, Any] | None:
    """Return the body of a request, or None if it is not JSON with tenant, user and role."""
    if request.header("content-type").partition(";")[0].strip().lower() != "application/json":
        return None
    try:
        wish = json.loads(request.body)
    except ValueError:
        return None
    if not isinstance(wish, dict) or wish.get("role") not in _ROLES:
        return None
    names = (wish.get("tenant"), wish.get("user"))
    is_complete = all(isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME for name in names)
    return wish if is_complete else None


def _read_cookie(request: HttpRequest, name: str) -> str:
    try:
        found = SimpleCookie(request.header("cookie")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
