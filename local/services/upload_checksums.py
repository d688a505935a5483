"""Refuse an upload whose bytes do not have the SHA-256 that its header states, as S3 does; moto stores any bytes.

Guaranteed: a PUT with `x-amz-checksum-sha256` is stored only if its body has this SHA-256; else the response is
BadDigest (400), as in "List of error codes" of the S3 API reference. Not guaranteed: other checksums, and bodies with
the content encoding aws-chunked, which state theirs at the end.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterable
from typing import Any

from local.services.presigned_requests import Application

_HEADER = "HTTP_X_AMZ_CHECKSUM_SHA256"
_REFUSAL = (
    b"<Error><Code>BadDigest</Code><Message>The SHA256 you specified did not match the calculated checksum."
    b"</Message></Error>"
)


def require_checksum(application: Application) -> Application:
    """Return the WSGI application, a method, with a comparison of SHA-256 checksums before it."""

    def checked(self: Any, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        stated = environ.get(_HEADER) if environ["REQUEST_METHOD"] == "PUT" else None
        if stated and "aws-chunked" not in environ.get("HTTP_CONTENT_ENCODING", ""):
            # moto reads the whole body into memory, too.
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            if base64.b64encode(hashlib.sha256(body).digest()).decode() != stated:
                start_response("400 Bad Request", [("Content-Type", "application/xml"), ("Connection", "close")])
                return [_REFUSAL]
            environ["wsgi.input"] = io.BytesIO(body)
            # Else moto does not keep the checksum.
            environ["HTTP_X_AMZ_SDK_CHECKSUM_ALGORITHM"] = "SHA256"
        return application(self, environ, start_response)

    return checked
