"""Requests to the moto server of this process as calls of its application, without sockets and threads.

Half of the processor time of a request to it is connecting, starting a thread, and writing and parsing HTTP. The
application that answers is the server's own, so answers are the same; other processes, and clients that use a proxy,
connect to the server. Requests whose bodies are neither bytes nor files do too.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HeadersDict
from botocore.handlers import BUILTIN_HANDLERS

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_UNPREFIXED = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


class Body(io.BytesIO):
    """The body of an answer as botocore reads it."""

    def stream(self, amount: int = 65536, **_: Any) -> Iterator[bytes]:
        """Yield the content in parts."""
        while part := self.read(amount):
            yield part


@contextmanager
def direct_requests(application: Application, address: str) -> Iterator[None]:
    """Answer this process's requests to `address` by the application; for clients that are made in the block."""
    process = os.getpid()

    def answer(request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
        if os.getpid() != process or not request.url.startswith(f"{address}/"):
            return None
        body = _content(request.body)
        return None if body is None else _respond(application, request, body)

    handler = ("before-send", answer)
    BUILTIN_HANDLERS.append(handler)
    try:
        _forget_session()
        yield
    finally:
        BUILTIN_HANDLERS.remove(handler)
        _forget_session()


def _forget_session() -> None:
    """Have boto3 make another session: one takes the handlers that there are when it is made, and keeps them."""
    boto3.DEFAULT_SESSION = None


def _content(body: Any) -> bytes | None:
    """The bytes to be sent; None if they are not known before they are sent."""
    if hasattr(body, "read"):
        body = body.read()
    if isinstance(body, str):
        return body.encode()
    return bytes(body or b"") if isinstance(body, bytes | bytearray | None) else None


def _respond(application: Application, request: AWSPreparedRequest, body: bytes) -> AWSResponse:
    status = 0
    headers: Any = HeadersDict()

    def start_response(line: str, fields: list[tuple[str, str]], *_: Any) -> None:
        nonlocal status
        status = int(line.split(" ", 1)[0])
        headers.update(fields)

    content = b"".join(application(_environ(request, body), start_response))
    return AWSResponse(request.url, status, headers, Body(content))


def _environ(request: AWSPreparedRequest, body: bytes) -> dict[str, Any]:
    """What werkzeug's server makes of a request."""
    url = urlsplit(request.url)
    target = url.path + (f"?{url.query}" if url.query else "")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(url.path).decode("latin-1"),
        "QUERY_STRING": url.query,
        "REQUEST_URI": target,
        "RAW_URI": target,
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": url.hostname,
        "SERVER_PORT": str(url.port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": url.netloc,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.items():
        text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
        lower = name.lower()
        environ[_UNPREFIXED.get(lower) or f"HTTP_{lower.replace('-', '_').upper()}"] = text
    environ["CONTENT_LENGTH"] = str(len(body))
    return environ
