"""Sign and verify the tokens of the local API, in place of an identity provider.

Guaranteed: a token is valid only with the one algorithm, issuer, audience and secret of this machine, and only until
it expires, to the second.
Difference from AWS: API Gateway accepts RSA signatures only. Here every user who can read the state directory can sign
tokens, which suits development.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local.errors import LocalError
from local.private_files import read_or_create_secret
from local.template.reader import Template

SECRET_FILE = "token-secret"  # noqa: S105 - the name of a file
ISSUER = "https://exhibit-ingest.localhost"
AUDIENCE = "exhibit-ingest-local"
DEFAULT_TENANT_CLAIM, DEFAULT_ROLES_CLAIM = "custom:tenant_id", "cognito:groups"
DEFAULT_CASES_CLAIM, DEFAULT_NAME_CLAIM = "custom:cases", "email"
EVERY_CASE = "*"

_ALGORITHM = "HS256"


class InvalidTokenError(LocalError):
    """The token is missing, has expired or is not valid; the message is safe to return to the client."""


class Tokens:
    """An issuer and verifier of tokens; `secret` has at least 32 characters."""

    def __init__(
        self,
        secret: str,
        issuer: str = ISSUER,
        audience: str = AUDIENCE,
        tenant_claim: str = DEFAULT_TENANT_CLAIM,
        roles_claim: str = DEFAULT_ROLES_CLAIM,
        cases_claim: str = DEFAULT_CASES_CLAIM,
        roles_prefix: str = "",
        cases_required: bool = False,
        name_claim: str = DEFAULT_NAME_CLAIM,
    ) -> None:
        self._secret = secret
        self._issuer = issuer
        self._audience = audience
        self._tenant_claim = tenant_claim
        self._roles_claim = roles_claim
        self._cases_claim = cases_claim
        self._roles_prefix = roles_prefix
        self._cases_required = cases_required
        self._name_claim = name_claim

    @classmethod
    def load(cls, state_dir: Path, template: Template) -> Tokens:
        """Return the tokens of a state directory; tenant, roles and cases are in the claims that the template names."""
        named = template.parameters
        return cls(
            read_or_create_secret(state_dir / SECRET_FILE),
            tenant_claim=str(named.get("TenantClaim", DEFAULT_TENANT_CLAIM)),
            roles_claim=str(named.get("RolesClaim", DEFAULT_ROLES_CLAIM)),
            cases_claim=str(named.get("CasesClaim", DEFAULT_CASES_CLAIM)),
            roles_prefix=str(named.get("RolesPrefix", "")),
            cases_required=named.get("CasesRequired") == "true",
            name_claim=str(named.get("UserNameClaim", DEFAULT_NAME_CLAIM)),
        )

    def issue(
        self,
        tenant: str,
        user: str,
        lifetime_s: float = 3600,
        roles: Sequence[str] | None = ("admin",),
        cases: Sequence[str] | None = None,
        name: str | None = None,
    ) -> str:
        """Return a signed token for a user of a tenant; without the claim of the roles, cases or name that are None.

        Where the template requires a claim of the cases, None is every case.
        """
        now = time.time()
        times = {"iat": int(now), "exp": int(now + lifetime_s)}
        names: dict[str, Any] = {"iss": self._issuer, "aud": self._audience, "sub": user, self._tenant_claim: tenant}
        names |= {} if name is None else {self._name_claim: name}
        names |= {} if roles is None else {self._roles_claim: [self._roles_prefix + role for role in roles]}
        if cases is not None or self._cases_required:
            names[self._cases_claim] = EVERY_CASE if cases is None else json.dumps(cases)
        # Imported where it is used: commands that start the API, but do not use it, must not wait for it.
        import jwt

        return jwt.encode(names | times, self._secret, algorithm=_ALGORITHM)

    def check(self, token: str) -> dict[str, Any]:
        """Return the claims of a token; raise InvalidTokenError.

        The message says that a token has expired only if its signature is valid.
        """
        import jwt

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
