"""Signing and checking the tokens of the local API, in place of an identity provider.

Guarantees that a token counts only with the one algorithm, issuer, audience and secret of this machine, and only
until it expires, to the second. API Gateway takes RSA signatures alone; here whoever may read the state directory may
sign, which is what a developer wants.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from pathlib import Path
from typing import Any

import jwt

from local.errors import LocalError
from local.template import Template

SECRET_FILE = "token-secret"  # noqa: S105 - the name of a file
ISSUER = "https://exhibit-ingest.localhost"
AUDIENCE = "exhibit-ingest-local"
DEFAULT_TENANT_CLAIM = "custom:tenant_id"

_ALGORITHM = "HS256"
_SECRET_BYTES = 32


class InvalidTokenError(LocalError):
    """The token is missing, has expired or is not valid, as the message says, and may be told to whoever sent it."""


class Tokens:
    """Issues and checks tokens; `secret` has at least 32 characters."""

    def __init__(
        self, secret: str, issuer: str = ISSUER, audience: str = AUDIENCE, tenant_claim: str = DEFAULT_TENANT_CLAIM
    ) -> None:
        self._secret = secret
        self._issuer = issuer
        self._audience = audience
        self._tenant_claim = tenant_claim

    @classmethod
    def of(cls, state_dir: Path, template: Template) -> Tokens:
        """The tokens of a state directory, with the tenant where the template's functions look for it."""
        claim = str(template.parameters.get("TenantClaim", DEFAULT_TENANT_CLAIM))
        return cls(kept_secret(state_dir / SECRET_FILE), tenant_claim=claim)

    def issue(self, tenant: str, user: str, lifetime_s: float = 3600) -> str:
        """A token for a user of a tenant."""
        now = time.time()
        times = {"iat": int(now), "exp": int(now + lifetime_s)}
        names = {"iss": self._issuer, "aud": self._audience, "sub": user, self._tenant_claim: tenant}
        return jwt.encode(names | times, self._secret, algorithm=_ALGORITHM)

    def check(self, token: str) -> dict[str, Any]:
        """The claims of a token; raises InvalidTokenError.

        That it has expired is said of tokens alone that were signed here; of all else, only that they are not valid.
        """
        if not token:
            raise InvalidTokenError("the token is missing")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._secret,
                algorithms=[_ALGORITHM],
                audience=self._audience,
                issuer=self._issuer,
                leeway=0,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.ExpiredSignatureError as exc:
            raise InvalidTokenError("the token has expired") from exc
        except jwt.InvalidTokenError as exc:
            raise InvalidTokenError("the token is not valid") from exc
        return claims


def kept_secret(path: Path) -> str:
    """The secret in a file that only its owner can read; made if it is missing. Whoever is first decides it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # mkstemp gives mode 0600; the link appears with its content, or not at all.
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(_SECRET_BYTES))
            _link_unless_there(draft, path)
        finally:
            os.unlink(draft)
    return path.read_text(encoding="ascii")


def _link_unless_there(draft: str, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        return
