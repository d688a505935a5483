"""Why a request of an upload failed, and with that, what follows.

`network` waits for the connection, `busy` is tried again some times, `expired` gets new URLs, `stale` reads the state
again. `final` needs a person, for this file; `halt` does for the whole upload.
"""

from __future__ import annotations

import re
import ssl
from http import HTTPStatus
from typing import Literal, NamedTuple

import httpx

from exhibit_ingest.errors import CommandError
from exhibit_ingest.uploads.protocols import Refusal, Unreachable

FaultKind = Literal["network", "busy", "expired", "stale", "halt", "final"]
AGAIN = "Run the command again to send the rest; if it fails again, give the code to your administrator."
_READ = "Check the path and your permissions, then run the command again."
_CHOOSE = "Run the command again once the files no longer change; it begins a new upload."
_EXPIRED = {"AccessDenied", "ExpiredToken", "RequestExpired"}
_STALE = {"NoSuchUpload", "InvalidPart", "InvalidPartOrder", "PreconditionFailed"}
_BUSY = {"ConditionalRequestConflict", "RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable"}
ALTERED_CODES = {"BadDigest", "XAmzContentChecksumMismatch", "IncompleteBody"}
FILE_CHANGED = "FILE_CHANGED"
_CODE = re.compile(r"<Code>([^<]*)</Code>")
# How httpx words the answer of a proxy to CONNECT.
_REFUSED = re.compile(r"4\d\d ")
_PAGE = re.compile(r"\s*<(!doctype html|html)", re.IGNORECASE)


class UploadFault(CommandError):
    """`code` is that of S3 or of the API, or of this package; the text is what happened, `advice` what to do."""

    def __init__(self, kind: FaultKind, code: str, message: str, advice: str = AGAIN) -> None:
        super().__init__(message)
        self.kind, self.code, self.message, self.advice = kind, code, message, advice

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".strip()


class FileChangedFault(UploadFault):
    """A file is not the one that was listed, or that was announced to the stack."""

    def __init__(self, path: str) -> None:
        super().__init__("final", FILE_CHANGED, f"{path} was changed, moved or removed while it was sent.", _CHOOSE)


class Answer(NamedTuple):
    """An answer of the storage; `crc` is the CRC-64/NVME of the bytes that it got, in Base64."""

    status: int
    etag: str | None
    text: str
    crc: str | None = None


def find_fault(answer: Answer, path: str) -> UploadFault | None:
    """Return the fault that an answer of S3 means; None for success. An answer 200 can have an error in its body."""
    found = _CODE.search(answer.text)
    code = found[1] if found else ""
    if _PAGE.match(answer.text):
        return _read_page(answer)
    if answer.status in range(200, 300) and not code:
        return None
    said = f"The storage answered {answer.status} {code}".rstrip() + f" for {path or 'the files'}."
    if code in _STALE or answer.status == HTTPStatus.PRECONDITION_FAILED:
        return UploadFault("stale", code or "PreconditionFailed", said)
    if code in ALTERED_CODES:
        # A file that was changed is noticed when it is read; these bytes were altered on the way.
        return UploadFault("busy", code, said, "Something changes the file, or its bytes on the way.")
    if code == "SignatureDoesNotMatch":
        return UploadFault("final", code, f"{said} Something on the way changes the requests.", AGAIN)
    if code in _EXPIRED or (answer.status == HTTPStatus.FORBIDDEN and not code):
        denied = "The bucket refuses this user, network or address. Ask the operator of the stack."
        return UploadFault("expired", code or "AccessDenied", said, denied)
    is_busy = code in _BUSY or answer.status < 300 or answer.status == HTTPStatus.TOO_MANY_REQUESTS
    is_busy = is_busy or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return UploadFault("busy" if is_busy else "final", code or str(answer.status), said)


def _read_page(answer: Answer) -> UploadFault:
    """A page for people comes from a proxy or a sign-in of the network, never from the storage."""
    kind: FaultKind = "busy" if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR else "final"
    return UploadFault(
        kind,
        f"PAGE_{answer.status}",
        f"A web page answered instead of the storage ({answer.status}): a proxy or the sign-in of a network.",
        "Check the connection and HTTPS_PROXY, then run the command again to send the rest.",
    )


def to_fault(error: BaseException, path: str) -> UploadFault | None:
    """Return what an exception means; None for one that is not of an upload."""
    if isinstance(error, UploadFault):
        return error
    if isinstance(error, httpx.RequestError | httpx.InvalidURL | ConnectionError | TimeoutError):
        return _from_transport(error)
    if isinstance(error, Unreachable):
        return UploadFault("halt" if error.is_final else "network", "NETWORK", str(error), "")
    if isinstance(error, Refusal):
        return _from_api(error)
    if isinstance(error, OSError):
        return UploadFault("final", "UNREADABLE", f"{path} cannot be read: {error.strerror or error}.", _READ)
    return None


def _from_transport(error: BaseException) -> UploadFault:
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return UploadFault("final", "UNEXPECTED", "The API returned a URL or a header that cannot be used.")
    if isinstance(error, httpx.ProxyError) and _REFUSED.match(str(error)):
        advice = "Check HTTPS_PROXY, then run the command again to send the rest."
        return UploadFault("halt", "PROXY", f"The proxy of this network refused the connection ({error}).", advice)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return UploadFault(
                "halt",
                "TLS_NOT_VERIFIED",
                f"The certificate of the server was not verified: {cause.verify_message}.",
                "If your network has a certificate of its own, name its file in SSL_CERT_FILE.",
            )
        cause = cause.__cause__ or cause.__context__
    return UploadFault("network", "NETWORK", f"The server does not answer ({type(error).__name__}).")


def _from_api(error: Refusal) -> UploadFault:
    code = error.code or str(error.status)
    if error.status == HTTPStatus.UNAUTHORIZED:
        advice = "Then run the command again: what was sent is kept."
        return UploadFault("halt", code, f"The sign-in has ended: {error}", advice)
    is_busy = error.status == HTTPStatus.TOO_MANY_REQUESTS or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    is_busy = is_busy or code in ("in-progress", "conflict")
    return UploadFault("busy" if is_busy else "final", code, str(error), "")
