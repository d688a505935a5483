"""Sentences for requests that got no answer: no network, no name, a proxy, a certificate."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx

from exhibit_ingest.errors import CommandError

# Of OpenSSL: a certificate that is not valid yet, or not any more.
_OUT_OF_TIME = (9, 10)


class UnreachableError(CommandError):
    """No answer came; `is_final` if a repetition would fail as this request did."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


def explain_failure(error: httpx.RequestError, host: str) -> UnreachableError:
    """Return the error for a request to `host` that got no answer."""
    causes = list(_follow_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return UnreachableError(_explain_certificate(cause, host), is_final=True)
        if isinstance(cause, socket.gaierror):
            return UnreachableError(
                f"The name {host} was not found. Check the network connection and the address of the stack."
            )
    match error:
        case httpx.ProxyError():
            text = f"The proxy of this network did not pass the request to {host} on ({error}). Check HTTPS_PROXY."
            return UnreachableError(text, is_final=True)
        case httpx.ConnectError() | httpx.ConnectTimeout():
            text = f"No connection to {host} ({_name(causes)}). Check the network connection, VPN and proxy."
        case httpx.TimeoutException():
            text = f"{host} did not answer in time. Run the command again."
        case _:
            text = f"The connection to {host} was lost ({_name(causes)}). Run the command again."
    return UnreachableError(text)


def _explain_certificate(error: ssl.SSLCertVerificationError, host: str) -> str:
    if error.verify_code in _OUT_OF_TIME:
        now = datetime.now(UTC)
        return (
            f"The certificate of {host} is not valid at the time of this machine, {now:%Y-%m-%d %H:%M} UTC."
            " If that time is wrong, set the clock; if it is right, ask the operator of the stack."
        )
    return (
        f"The certificate of {host} cannot be verified ({error.verify_message}). If your network inspects connections,"
        " ask its administrator for the root certificate, and set SSL_CERT_FILE to the path of that file."
    )


def _follow_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _name(causes: list[BaseException]) -> str:
    """Return the words of the operating system, or of the first error."""
    system = next((cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror), None)
    return system or str(causes[0]) or type(causes[0]).__name__
