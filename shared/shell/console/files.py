"""The files of the built console, as responses of API Gateway.

Guaranteed: only files of the build are returned. A path without a suffix is a place in the page and gets the page
itself, so that a link to it works; one with a suffix that the build lacks is 404, so that a missing script is an error
and not the page. Browsers keep the files under `assets/`, whose names have a hash, and request the page each time.
"""

from __future__ import annotations

import base64
import gzip
import json
import mimetypes
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any

from shell.console.headers import build_headers
from shell.settings import ConsoleSettings

PREFIX = "/console"
_CONFIG = "config.json"
_FOR_A_YEAR, _ASK_AGAIN = "public, max-age=31536000, immutable", "no-cache"
_NOT_BUILT = "The console is not built: run `make console`. The API works without it.\n"

Response = dict[str, Any]


def respond(path: str, folder: Path, settings: ConsoleSettings) -> Response:
    """Return the response to GET of a decoded path that begins with PREFIX; `folder` holds the build."""
    if path == PREFIX:
        return _build(HTTPStatus.PERMANENT_REDIRECT, {"location": f"{PREFIX}/"}, settings)
    name = path.removeprefix(f"{PREFIX}/")
    if name == _CONFIG:
        headers = {"content-type": "application/json", "cache-control": _ASK_AGAIN}
        return _build(HTTPStatus.OK, headers, settings, json.dumps(describe(settings)))
    if "index.html" not in _list_files(folder):
        headers = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store"}
        return _build(HTTPStatus.NOT_FOUND, headers, settings, _NOT_BUILT)
    file = find_file(folder, name)
    if file is None:
        return _build(HTTPStatus.NOT_FOUND, {}, settings)
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    cache = _FOR_A_YEAR if file.parent.name == "assets" else _ASK_AGAIN
    headers = {"content-type": kind, "cache-control": cache, "content-encoding": "gzip", "vary": "accept-encoding"}
    return _build(HTTPStatus.OK, headers, settings, _compress(file)) | {"isBase64Encoded": True}


def describe(settings: ConsoleSettings) -> dict[str, Any]:
    """Return what the page, and the command, have to know of this deployment."""
    sign_in = {"kind": settings.sign_in}
    if settings.sign_in_domain:
        sign_in |= {"domain": settings.sign_in_domain, "clientId": settings.client_id}
    if settings.sign_in == "issuer":
        sign_in |= {"issuer": settings.issuer, "clientId": settings.client_id}
    return {"signIn": sign_in, "storage": settings.storage}


def find_file(folder: Path, name: str) -> Path | None:
    """Return the file of a name, the page for a name without a suffix, or None."""
    return _list_files(folder).get(name if PurePosixPath(name).suffix else "index.html")


@lru_cache(maxsize=1)
def _list_files(folder: Path) -> Mapping[str, Path]:
    """Return the files of the build by name: a name from a request never reaches the file system."""
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


@lru_cache(maxsize=256)
def _compress(file: Path) -> str:
    return base64.b64encode(gzip.compress(file.read_bytes(), mtime=0)).decode()


def _build(status: HTTPStatus, headers: dict[str, str], settings: ConsoleSettings, body: str = "") -> Response:
    return {"statusCode": status, "headers": headers | build_headers(settings), "body": body}
