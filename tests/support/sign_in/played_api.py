"""A played API: its sign-in configuration and `GET /me`, for the tokens that an issuer says are valid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.sign_in.played_server import Answer, PlayedServer, Received

ME = {
    "userId": "0f3a",
    "userName": "ada@example.com",
    "tenantId": "firm",
    "role": "editor",
    "cases": ["Acme", "Smith v. Jones"],
    "tokenExpiresAt": "2026-11-27T09:00:00Z",
    "limits": {"maxPageSize": 500},
    "version": "0.1.0",
    "charset": "utf8mb4",
}
UNAUTHORIZED = Answer(401, {"message": "Unauthorized"})


class PlayedApi(PlayedServer):
    """`sign_in` is what config.json says, `me` what `GET /me` does; `accepts` decides about a token."""

    def __init__(self, sign_in: dict[str, Any] | None, accepts: Callable[[str], bool]) -> None:
        super().__init__(self._decide)
        self.sign_in, self.accepts = sign_in, accepts
        self.me: dict[str, Any] = ME

    @property
    def tokens(self) -> list[str]:
        """The tokens of the requests to `GET /me`."""
        return [each.headers["authorization"].removeprefix("Bearer ") for each in self.received if each.path == "/me"]

    def _decide(self, request: Received) -> Answer:
        if request.path == "/console/config.json" and self.sign_in:
            return Answer(body={"signIn": self.sign_in, "storage": "https://bucket.example.com"})
        if not self.accepts(request.headers.get("authorization", "").removeprefix("Bearer ")):
            return UNAUTHORIZED
        return Answer(body=self.me) if request.path == "/me" else Answer(404, {"message": "Not Found"})
