"""Refuse a presigned request that S3 would refuse, because moto accepts any.

Guaranteed: the signature is computed from the request as it arrived, as in "Authenticating Requests: Using Query
Parameters" of the S3 API reference, so a request without a signed header, or with another value, is refused (403).
Preflights have no signature of their own.
Not guaranteed: that an expired URL is refused, or a request whose signature is in its headers.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

if TYPE_CHECKING:
    # It imports Flask, which a command that signs does not need.
    from local.storage.request_bodies import Application

# The secret key of every client and function on this machine.
SECRET = "test"  # noqa: S105 - nothing is protected by it

_REFUSAL = (
    b"<Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match the "
    b"signature you provided. Check your key and signing method.</Message></Error>"
)


def require_signature(application: Application) -> Application:
    """Return the WSGI application, a method, with a check of presigned requests before it."""

    def checked(self: Any, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path, _, query = str(environ["REQUEST_URI"]).partition("?")
        parameters = dict(parse_qsl(query, keep_blank_values=True))
        if "X-Amz-Signature" in parameters and environ["REQUEST_METHOD"] != "OPTIONS":
            expected = _sign(environ["REQUEST_METHOD"], path, parameters, _read_headers(environ))
            if not hmac.compare_digest(expected, parameters["X-Amz-Signature"]):
                # An unread body would be taken for the next request of the connection.
                environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
                start_response("403 Forbidden", [("Content-Type", "application/xml"), ("Connection", "close")])
                return [_REFUSAL]
        return application(self, environ, start_response)

    return checked


def _read_headers(environ: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of the request by their names in lower case."""
    named = {name.removeprefix("HTTP_"): str(value) for name, value in environ.items() if name.startswith("HTTP_")}
    named |= {name: str(environ[name]) for name in ("CONTENT_LENGTH", "CONTENT_TYPE") if environ.get(name)}
    return {name.lower().replace("_", "-"): value.strip() for name, value in named.items()}


def _sign(method: str, path: str, parameters: Mapping[str, str], headers: Mapping[str, str]) -> str:
    """Return the signature that the request must have."""
    signed = parameters["X-Amz-SignedHeaders"].split(";")
    query = sorted(f"{_encode(k)}={_encode(v)}" for k, v in parameters.items() if k != "X-Amz-Signature")
    lines = [f"{name}:{headers.get(name, '')}" for name in signed]
    request = [method, quote(unquote(path), "/-_.~"), "&".join(query), *lines, "", ";".join(signed), "UNSIGNED-PAYLOAD"]
    scope = parameters["X-Amz-Credential"].split("/")[1:]
    digest = hashlib.sha256("\n".join(request).encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope:
        key = _hmac(key, part)
    return _hmac(key, "\n".join(["AWS4-HMAC-SHA256", parameters["X-Amz-Date"], "/".join(scope), digest])).hex()


def _encode(text: str) -> str:
    return quote(text, "-_.~")


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
