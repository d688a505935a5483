"""HTTP requests of a user, and what is raised where a response is not what the step expects."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_REQUEST_S = 40
_POLL_S = 1.0


class SmokeError(Exception):
    """A step found something else than it expected; the message says what was expected and what came."""


class Response(NamedTuple):
    """A response: its status, its body and its headers by lower-case name."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        """Return the body as JSON; raise SmokeError if it is something else."""
        try:
            return json.loads(self.body)
        except ValueError as exc:
            raise SmokeError(f"expected JSON, got {len(self.body)} bytes of something else") from exc


class Api:
    """The API of a stack for one user; a request that was expected to succeed and did not raises SmokeError."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url.rstrip("/"), token

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, expect: int = 200
    ) -> Response:
        """Send a request, a POST with a new Idempotency-Key; return the response if it has the expected status."""
        sent = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **(headers or {})}
        if method == "POST":
            sent["Idempotency-Key"] = f"smoke-{uuid.uuid4()}"
        data = None if body is None else json.dumps(body).encode()
        response = send(method, self._url + path, data, sent)
        if response.status != expect:
            raise SmokeError(f"{method} {path}: expected {expect}, got {response.status}{_describe(response)}")
        return response

    def get(self, path: str) -> Any:
        """Return the JSON of a resource."""
        return self.call("GET", path).json

    def wait_for(self, path: str, is_done: Callable[[Any], bool], deadline_s: float) -> Any:
        """Return the JSON of a resource once `is_done` accepts it; raise SmokeError after the deadline."""
        until = time.monotonic() + deadline_s
        while not is_done(found := self.get(path)):
            if time.monotonic() > until:
                state = found.get("status") if isinstance(found, dict) else None
                raise SmokeError(f"GET {path}: still {state} after {deadline_s:.0f} s")
            time.sleep(_POLL_S)
        return found


def send(method: str, url: str, data: bytes | None, headers: Mapping[str, str]) -> Response:
    """Send one request; raise SmokeError if there is no response, without the URL, which can be signed."""
    request = urllib.request.Request(url, data=data, headers=dict(headers), method=method)  # noqa: S310 - of the stack
    try:
        with urllib.request.urlopen(request, timeout=_REQUEST_S) as answer:  # noqa: S310
            return Response(answer.status, answer.read(), _lower(answer.headers))
    except urllib.error.HTTPError as refused:
        return Response(refused.code, refused.read(), _lower(refused.headers))
    except OSError as exc:
        raise SmokeError(f"{method}: no response: {exc}") from exc


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _describe(response: Response) -> str:
    """Return the detail of a problem document; no other body, which could be a document."""
    try:
        problem = json.loads(response.body)
    except ValueError:
        return ""
    return f" ({problem['detail']})" if isinstance(problem, dict) and isinstance(problem.get("detail"), str) else ""
