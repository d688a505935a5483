"""The API of this process as a WSGI application, for tools that speak HTTP to one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from local.gateway.events import HttpRequest
from tests.support.api.client import gateway


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer as API Gateway does."""
    path, query = environ["REQUEST_URI"].partition("?")[0], environ.get("QUERY_STRING", "")
    length = int(environ.get("CONTENT_LENGTH") or 0)
    request = HttpRequest(
        method=environ["REQUEST_METHOD"],
        path=path.encode("latin-1").decode("utf-8", "replace"),
        query=query.encode("latin-1").decode("utf-8", "replace"),
        headers=_headers(environ),
        body=environ["wsgi.input"].read(length),
        source_ip="127.0.0.1",
    )
    answer = gateway().handle(request)
    start_response(f"{answer.status} {HTTPStatus(answer.status).phrase}", list(answer.headers))
    return [answer.body]


def _headers(environ: dict[str, Any]) -> list[tuple[str, str]]:
    given = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
    if environ.get("CONTENT_TYPE"):
        given["content-type"] = environ["CONTENT_TYPE"]

    return list(given.items())
