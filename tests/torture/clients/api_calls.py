"""Callers of the API as its page tells them to be: one key a request, repeated until there is an answer."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import requests

from tests.torture.clients.ledger import Answer, Ledger

PATIENCE_S = 150.0
_AGAIN = frozenset({429, 500, 502, 503, 504})
_AGAIN_TYPES = ("in-progress", ":conflict")
# By whom a request is refused that is accepted later: the case is opened, its hold lifted, or the tenant released.
BY_CASE, BY_TENANT = "case", "tenant"
_OF_CASES = ("The case is closed", "The case is under a legal hold")


class Answered(NamedTuple):
    """What was answered in the end."""

    status: int
    body: Any
    etag: str


class NeverAnsweredError(Exception):
    """No answer came before the caller's time-out."""


class Client:
    """One caller of one tenant; its requests under keys, and their answers, are in the ledger.

    Where it is impatient, it asks twice at once under the same key now and then.
    """

    def __init__(self, url: str, token: str, ledger: Ledger, draw: random.Random) -> None:
        self._url, self.ledger, self.draw = url, ledger, draw
        self._headers = {"Authorization": f"Bearer {token}"}
        self._pause = threading.Event()
        self.name = f"{draw.getrandbits(64):016x}"
        self._key_count = 0

    def get(self, path: str) -> Answered:
        """Read."""
        return self._until_answered("GET", path, None, {})

    def change(self, method: str, path: str, body: Any = None, *, if_match: str = "", refused_by: str = "") -> Answered:
        """Change something under a new key, and note what came of it.

        It waits while its case or its tenant refuses it, unless that is expected.
        """
        self._key_count += 1
        key = f"{self.name}-{self._key_count}"
        headers = {"Idempotency-Key": key} | ({"If-Match": if_match} if if_match else {})
        if self.draw.random() < 0.3:
            answered = self._twice(method, path, body, headers, refused_by)
        else:
            answered = self._until_answered(method, path, body, headers, refused_by)
        self.ledger.answered(Answer(method, path, key, answered.status, answered.body))
        return answered

    def _twice(self, *request: Any) -> Answered:
        with ThreadPoolExecutor(2) as pool:
            one, other = [each.result() for each in [pool.submit(self._until_answered, *request) for _ in range(2)]]
        # After a refusal the key is free: the other one may succeed then.
        both = max(one.status, other.status) < 400
        if both and (one.status, one.body) != (other.status, other.body) and not has_urls(one.body):
            self.ledger.complain(f"doubled: two answers under one key: {request[0]} {request[1]}: {one} and {other}")
        return min(one, other, key=lambda each: each.status)

    def _until_answered(
        self, method: str, path: str, body: Any, headers: Mapping[str, str], refused_by: str = ""
    ) -> Answered:
        deadline = time.monotonic() + PATIENCE_S
        last = "nothing"
        while time.monotonic() < deadline:
            try:
                response = requests.request(
                    method, self._url + path, json=body, headers={**self._headers, **headers}, timeout=30
                )
            except requests.RequestException as error:
                last = type(error).__name__
            else:
                if not _is_passing(response) and _find_refusal(response) in ("", refused_by):
                    return Answered(response.status_code, _json(response), response.headers.get("ETag", ""))
                last = f"{response.status_code} {response.text[:300]}"
                if "problem:internal-error" in response.text:
                    self.ledger.complain(f"internal error: {method} {path}: {last}")
            self._pause.wait(0.25)
        raise NeverAnsweredError(f"{method} {path}: {last}")


def has_urls(body: Any) -> bool:
    """Whether a response has URLs of uploads, which are signed anew each time it is given."""
    return "upload" in body or any("upload" in each for each in body.get("items", []))


def _is_passing(response: requests.Response) -> bool:
    if response.status_code in _AGAIN:
        return True
    return response.status_code == 409 and str(_json(response).get("type", "")).endswith(_AGAIN_TYPES)


def _find_refusal(response: requests.Response) -> str:
    """Return by whom the request is refused for now, empty if by neither."""
    problem = _json(response) if response.status_code in (403, 409) else {}
    if str(problem.get("type", "")).endswith("tenant-refused"):
        return BY_TENANT
    return BY_CASE if str(problem.get("detail", "")).startswith(_OF_CASES) else ""


def _json(response: requests.Response) -> Any:
    return response.json() if response.content else {}
