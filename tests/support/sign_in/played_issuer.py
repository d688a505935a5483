"""A played issuer: Cognito's hosted page and token endpoint, with PKCE, refresh and revocation, and a device grant.

It checks what Cognito checks (the redirect, the verifier, a code once) and what RFC 8628 says of the device grant.
"""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import urlencode

from tests.support.sign_in.played_server import Answer, PlayedServer, Received

CLIENT = "command"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
# Longer than Cognito's, which have about 1,700 characters.
LENGTH = 3000
_INVALID = Answer(400, {"error": "invalid_grant"})


class PlayedIssuer(PlayedServer):
    """`redirects` are the callback URLs of the client; the other attributes are what a test decides."""

    def __init__(self, redirects: tuple[str, ...] = ()) -> None:
        super().__init__(self._decide)
        self.redirects = redirects
        self.is_refusing = self.is_rotating = False
        self.lifetime_s = 3600
        self.device_answers: list[str] = []
        self.valid: set[str] = set()
        self.refresh_tokens: set[str] = set()
        self._codes: dict[str, dict[str, str]] = {}

    @property
    def cognito(self) -> dict[str, Any]:
        """What config.json says of it as a user pool."""
        return {"kind": "cognito", "domain": self.url, "clientId": CLIENT}

    @property
    def other(self) -> dict[str, Any]:
        """What config.json says of it as an issuer of the firm's own."""
        return {"kind": "issuer", "issuer": self.url, "clientId": CLIENT}

    def _decide(self, request: Received) -> Answer:
        match request.path:
            case "/oauth2/authorize":
                return self._show_page(request.query)
            case "/oauth2/token":
                return self._exchange(request.form)
            case "/oauth2/revoke":
                self.refresh_tokens.discard(request.form["token"])
                return Answer(200)
            case "/device":
                uri = f"{self.url}/enter"
                code = {"device_code": "device", "user_code": "WDJB-MJHT", "verification_uri": uri}
                return Answer(body={**code, "expires_in": 60, "interval": 5})
            case "/.well-known/openid-configuration":
                device = {"device_authorization_endpoint": f"{self.url}/device"} if self.device_answers else {}
                revoke = {"revocation_endpoint": f"{self.url}/oauth2/revoke", "scopes_supported": ["offline_access"]}
                return Answer(
                    body={"issuer": self.url, "token_endpoint": f"{self.url}/oauth2/token", **device, **revoke}
                )
        return Answer(404, "")

    def _show_page(self, query: dict[str, str] | Any) -> Answer:
        """Send the browser back, as a user who signs in at once, or who refuses."""
        if query["redirect_uri"] not in self.redirects or query["client_id"] != CLIENT:
            return Answer(400, "redirect_mismatch", kind="text/html")
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(12)
        self._codes[code] = dict(query)
        answer = (
            {"error": "access_denied", "error_description": "User\x1b refused"} if self.is_refusing else {"code": code}
        )
        back = urlencode({**answer, "state": query["state"]})
        return Answer(302, headers={"Location": f"{query['redirect_uri']}?{back}"})

    def _exchange(self, form: dict[str, str]) -> Answer:
        match form["grant_type"]:
            case "authorization_code":
                begun = self._codes.pop(form["code"], None)
                challenge = urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
                if not begun or begun["code_challenge"] != challenge.decode():
                    return _INVALID
                return self._issue() if begun["redirect_uri"] == form["redirect_uri"] else _INVALID
            case "refresh_token" if form["refresh_token"] in self.refresh_tokens:
                if not self.is_rotating:
                    return self._issue(is_refresh=True)
                self.refresh_tokens.remove(form["refresh_token"])
                return self._issue()
            case grant if grant == DEVICE_GRANT:
                answer = self.device_answers.pop(0)
                return self._issue() if answer == "entered" else Answer(400, {"error": answer})
        return _INVALID

    def _issue(self, *, is_refresh: bool = False) -> Answer:
        token = f"id-{len(self.valid)}-{secrets.token_hex(4)}"
        self.valid.add(token)
        issued: dict[str, Any] = {"id_token": token, "access_token": "none", "expires_in": self.lifetime_s}
        if not is_refresh:
            issued["refresh_token"] = secrets.token_hex(LENGTH // 2)
            self.refresh_tokens.add(issued["refresh_token"])
        return Answer(body=issued)
