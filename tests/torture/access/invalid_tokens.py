"""Tokens that must not count, tokens of tenants that only look like another, and gateways that take what they must not.

Made by hand, with no library that would refuse to make them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from local.gateway.tokens import InvalidTokenError, Tokens

Claims = dict[str, Any]
_HS256, _HOUR = {"alg": "HS256", "typ": "JWT"}, 3600


@dataclass(frozen=True)
class Signer:
    """Who signs tokens that count, and what is in one: `claims` of a user of the tenant."""

    secret: str
    claims: Claims
    tenant_claim: str = "custom:tenant_id"

    @classmethod
    def of(cls, secret: str, good: str) -> Signer:
        """The signer of a token that counts."""
        return cls(secret, dict(jwt.decode(good, options={"verify_signature": False})))

    def sign(self, secret: str | bytes | None = None, header: Mapping[str, Any] | None = None, **changes: Any) -> str:
        """A token of those claims with changes; a claim that is changed to `...` is missing."""
        claims = {name: value for name, value in {**self.claims, **changes}.items() if value is not ...}
        text = f"{_part(header or _HS256)}.{_part(claims)}"
        key = self.secret if secret is None else secret
        made = hmac.new(key.encode() if isinstance(key, str) else key, text.encode(), hashlib.sha256)
        return f"{text}.{_coded(made.digest())}"

    def of_tenant(self, tenant: Any) -> str:
        """A token of another tenant, or of none: whatever the claim holds."""
        return self.sign(**{self.tenant_claim: tenant})


def no_tokens(signer: Signer) -> dict[str, list[str]]:
    """What a gateway refuses, as Authorization headers."""
    good, now = signer.sign(), int(time.time())
    head, payload, signature = good.split(".")
    foreign = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    shape = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    public = foreign.public_key().public_bytes(*shape)
    other = _part({**signer.claims, signer.tenant_claim: "another"})
    bad = {
        "empty": "",
        "not a token": "nonsense",
        "expired": signer.sign(exp=now - 1),
        "expired a day ago": signer.sign(exp=now - 24 * _HOUR),
        "never expires": signer.sign(exp=...),
        "expires at a word": signer.sign(exp="later"),
        "not valid yet": signer.sign(nbf=now + _HOUR),
        "issued tomorrow": signer.sign(iat=now + 24 * _HOUR),
        "another issuer": signer.sign(iss="https://issuer.example"),
        "no issuer": signer.sign(iss=...),
        "issuer with a slash": signer.sign(iss=f"{signer.claims['iss']}/"),
        "another audience": signer.sign(aud="another"),
        "other audiences": signer.sign(aud=["one", "another"]),
        "no audience": signer.sign(aud=...),
        "no subject": signer.sign(sub=...),
        "foreign secret": signer.sign("x" * 64),
        "empty secret": signer.sign(""),
        "RS256 by a foreign key": jwt.encode(signer.claims, foreign, algorithm="RS256"),
        "HS256 by a public key": signer.sign(public),
        "RS256 said, HS256 done": signer.sign(public, {"alg": "RS256", "typ": "JWT"}),
        "alg none": f"{_part({'alg': 'none', 'typ': 'JWT'})}.{payload}.",
        "alg None, signed": f"{_part({'alg': 'None', 'typ': 'JWT'})}.{payload}.{signature}",
        "alg HS512, signed as HS256": signer.sign(None, {"alg": "HS512", "typ": "JWT"}),
        "no alg": signer.sign(None, {"typ": "JWT"}),
        "a key of its own": signer.sign(public, {**_HS256, "jwk": {"kty": "oct", "k": _coded(public)}}),
        "another payload": f"{head}.{other}.{signature}",
        "another signature": f"{head}.{payload}.{_coded(b'0' * 32)}",
        "half a signature": f"{head}.{payload}.{signature[:20]}",
        "no signature": f"{head}.{payload}.",
        "two parts": f"{head}.{payload}",
        "four parts": f"{good}.{signature}",
        "payload no JSON": f"{head}.{_coded(b'{')}.{signature}",
    }
    forms = {
        "no header": [],
        "basic": [f"Basic {good}"],
        "the word alone": ["Bearer"],
        "the scheme twice": [f"Bearer Bearer {good}"],
        "lower-case scheme, foreign secret": [f"bearer {bad['foreign secret']}"],
        "no scheme, foreign secret": [bad["foreign secret"]],
        "two headers, both good": [f"Bearer {good}"] * 2,
        "two headers, good first": [f"Bearer {good}", f"Bearer {bad['foreign secret']}"],
        "two headers, good last": [f"Bearer {bad['alg none']}", f"Bearer {good}"],
    }
    return {name: [f"Bearer {token}"] for name, token in bad.items()} | forms


def no_tenants(signer: Signer, tenant: str) -> dict[str, list[str]]:
    """What counts for a gateway and says no tenant or user that there may be."""
    claims: dict[str, Any] = {
        "missing": ...,
        "null": None,
        "empty": "",
        "a list": [tenant],
        "an empty list": [],
        "two of them": [tenant, tenant],
        "an object": {"id": tenant},
        "spaces": "   ",
        "space before": f" {tenant}",
        "space behind": f"{tenant} ",
        "no-break space behind": f"{tenant}\u00a0",
        "zero width behind": f"{tenant}\u200b",
        "soft hyphen within": f"{tenant[:3]}\u00ad{tenant[3:]}",
        "line end behind": f"{tenant}\n",
        "NUL behind": f"{tenant}\0",
        "this folder": ".",
        "the folder above": "..",
        "a folder up": f"x/../{tenant}",
        "a folder": f"{tenant}/",
        "a folder before": f"/{tenant}",
        "too long": "x" * 65,
    }
    made = {f"tenant {name}": signer.of_tenant(value) for name, value in claims.items()}
    users = {"empty": "", "of spaces": " ", "that its columns cannot hold": "ada\U0001f44d", "too long": "x" * 256}
    made |= {f"user {name}": signer.sign(sub=value) for name, value in users.items()}
    return {name: [f"Bearer {token}"] for name, token in made.items()}


def lookalikes(tenant: str) -> list[str]:
    """Tenants of their own whose names a database, a client or a bucket might take for the tenant's."""
    return [
        tenant.upper(),
        tenant.replace("a", "\u00e1", 1),
        tenant.replace("a", "a\u0301", 1),
        tenant.replace("t", "\uff54", 1),
        f"{tenant}%2F",
        "%",
    ]


class Lax(Tokens):
    """Tokens of which something is not checked: what a gateway must not be like."""

    def __init__(self, secret: str, **options: Any) -> None:
        super().__init__(secret)
        self._key, self._options = secret, options

    def check(self, token: str) -> Claims:
        """The claims."""
        try:
            options: Any = {"verify_aud": False, **self._options}
            return dict(jwt.decode(token, self._key, algorithms=["HS256"], options=options))
        except jwt.InvalidTokenError as exc:
            raise InvalidTokenError("the token is not valid") from exc


def _part(value: Mapping[str, Any]) -> str:
    return _coded(json.dumps(value).encode())


def _coded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
