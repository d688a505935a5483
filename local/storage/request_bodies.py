"""Write the bodies of uploads to the disk as they arrive, and compare them with the checksums that their headers state.

Guaranteed: a body is in memory a block at a time only; one that ends early, or has not the SHA-256 or CRC-32 that its
request states, is refused (400 IncompleteBody or BadDigest, "List of error codes" of the S3 API reference) and leaves
nothing. Not guaranteed: other checksums, and bodies with the content encoding aws-chunked, which state theirs last.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import flask

from local.storage.blobs import Written
from local.storage.storage import Storage

Application = Callable[[Any, dict[str, Any], Any], Iterable[bytes]]

_BODY = "local.body"
_BLOCK = 1_000_000
# Of a part, of the SDK, and of a URL with a signature of version 2.
_OWN = frozenset({"partNumber", "uploadId", "x-id", "AWSAccessKeyId", "Signature", "Expires"})
_REFUSALS = {
    "BadDigest": "The checksum you specified did not match the calculated checksum.",
    "IncompleteBody": "The request body terminated unexpectedly.",
}


def store_bodies(storage: Storage, application: Application) -> Application:
    """Return the WSGI application, a method, that finds the body of an upload on the disk; see `take_body`."""

    def stored(self: Any, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if not _is_upload(environ):
            return application(self, environ, start_response)
        draft = storage.blobs.draft(with_sha256="HTTP_X_AMZ_CHECKSUM_SHA256" in environ)
        try:
            left = int(environ.get("CONTENT_LENGTH") or 0)
            while left and (block := environ["wsgi.input"].read(min(left, _BLOCK))):
                draft.write(block)
                left -= len(block)
            if left:
                return _refuse(start_response, "IncompleteBody")
            body = draft.finish()
            if not _matches(environ, body):
                return _refuse(start_response, "BadDigest")
            environ[_BODY], environ["CONTENT_LENGTH"] = body, "0"
            return application(self, environ, start_response)
        finally:
            # None if a version names it now.
            if environ.get(_BODY, draft) is not None:
                draft.discard()

    return stored


def take_body(storage: Storage, value: bytes) -> Written:
    """Return the body of the current request on the disk, which is kept if its transaction is committed."""
    environ = flask.request.environ
    body: Written = environ.get(_BODY) or storage.blobs.write(value or b"")
    if body.size:
        storage.index.after_commit(lambda: environ.update({_BODY: None}))
    return body


def _is_upload(environ: Mapping[str, Any]) -> bool:
    """Return whether a request puts an object or a part: not a copy, and not what an object states beside its bytes."""
    path, _, query = str(environ["REQUEST_URI"]).partition("?")
    names = {name for name, _ in parse_qsl(query, keep_blank_values=True) if not name.startswith("X-Amz-")}
    return (
        environ["REQUEST_METHOD"] == "PUT"
        and "/" in path.strip("/")
        and names <= _OWN
        and "HTTP_X_AMZ_COPY_SOURCE" not in environ
        and "aws-chunked" not in environ.get("HTTP_CONTENT_ENCODING", "")
        and "HTTP_TRANSFER_ENCODING" not in environ
    )


def _matches(environ: dict[str, Any], body: Written) -> bool:
    """Return whether the body has the checksums that are stated; have moto keep one that is."""
    computed = {"CRC32": body.crc32.to_bytes(4)} | ({"SHA256": body.sha256} if body.sha256 else {})
    for algorithm, digest in computed.items():
        header = f"HTTP_X_AMZ_CHECKSUM_{algorithm}"
        encoded = base64.b64encode(digest).decode()
        requested = environ.get("HTTP_X_AMZ_SDK_CHECKSUM_ALGORITHM", "").upper() == algorithm
        if environ.get(header, encoded) != encoded:
            return False
        if header in environ or requested:
            environ[header] = encoded
            environ["HTTP_X_AMZ_SDK_CHECKSUM_ALGORITHM"] = algorithm
    return True


def _refuse(start_response: Any, code: str) -> Iterable[bytes]:
    start_response("400 Bad Request", [("Content-Type", "application/xml"), ("Connection", "close")])
    return [f"<Error><Code>{code}</Code><Message>{_REFUSALS[code]}</Message></Error>".encode()]
