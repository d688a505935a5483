"""Requests to the API of one stack.

Guaranteed: every request that changes something carries an Idempotency-Key, which stays the same however often the
request is repeated, so it takes effect once. A request is repeated if no answer came, or if the server asks for it,
with a pause that has a random part. A token that the API refuses is renewed once. Whatever goes wrong is one
CommandError, whose message is a sentence with the next step.
"""

from __future__ import annotations

import json as json_module
import logging
import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Any

import httpx

from exhibit_ingest.client.answers import ApiError, explain_clock, read_answer, read_delay
from exhibit_ingest.client.failures import explain_failure
from exhibit_ingest.client.tokens import TokenProvider
from exhibit_ingest.client.waiting import Patience, Waiting
from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import PROGRAM
from exhibit_ingest.stacks.addresses import LOCAL_HOSTS

ME = "/me"
REPEATED = (429, 500, 502, 503, 504)
# The API answers within 30 s: a function's 29 s, or the error of API Gateway.
_TIMEOUT = httpx.Timeout(35, connect=10)
_STORAGE_TIMEOUT = httpx.Timeout(60, connect=30)


class Api:
    """A client that threads can share; a context manager that closes its connections.

    `url` is the address of the API without a slash at its end. `say` gets a sentence for people before a long wait.
    """

    def __init__(
        self,
        url: str,
        tokens: TokenProvider,
        *,
        patience: Patience | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.url = url
        self.host = httpx.URL(url).netloc.decode()
        self._tokens = tokens
        self._patience = patience or Patience()
        self._say = say
        self._http = build_http(url)

    def request(
        self,
        method: str,
        path: str,
        json: Mapping[str, Any] | Sequence[Any] | None = None,
        key: str | None = None,
        *,
        if_match: str | None = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        """Return the object in the response, empty if it has no body; raise CommandError for a failure.

        `path` begins with a slash and may have a query string. `key` is the Idempotency-Key of the act: give one that
        is stored to repeat the act in another process; without one, a new key is made. `if_match` is the ETag of
        what is changed. ApiError has the status and the problem of the API.
        """
        headers = {} if method == "GET" else {"Idempotency-Key": key or secrets.token_urlsafe(18)}
        content = None if json is None else json_module.dumps(json, ensure_ascii=False).encode()
        if content is not None:
            headers["Content-Type"] = content_type
        if if_match is not None:
            headers["If-Match"] = if_match
        waiting, token, renewed = Waiting(self._patience), self._tokens.get_token(), False
        while True:
            bearer = {**headers, "Authorization": f"Bearer {token}"}
            try:
                response = self._http.request(method, path, content=content, headers=bearer)
            except httpx.RequestError as exc:
                self._wait_for_network(waiting, exc)
                continue
            try:
                return read_answer(response, self.host)
            except ApiError as error:
                if error.status == HTTPStatus.UNAUTHORIZED and not renewed:
                    token, renewed = self._renew(token, response), True
                elif error.is_missing_route and path != ME:
                    raise self._explain_missing_route(error, method, path) from error
                else:
                    self._wait_for_server(waiting, error, response)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Api:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _explain_missing_route(self, error: ApiError, method: str, path: str) -> ApiError:
        from importlib.metadata import version

        there = shorten_printable(str(self.request("GET", ME).get("version")), 40)
        text = (
            f"The API of {self.host} has version {there}, without `{method} {path.partition('?')[0]}`, which this"
            f" command, version {version(PROGRAM)}, needs. Ask the operator to update the stack to that version."
        )
        return ApiError(text, error.status, error.problem, error.request_id)

    def _renew(self, refused: str, response: httpx.Response) -> str:
        try:
            return self._tokens.renew_token(refused)
        except CommandError as exc:
            if text := explain_clock(response, self.host):
                raise CommandError(text) from exc
            raise

    def _wait_for_network(self, waiting: Waiting, exc: httpx.RequestError) -> None:
        failure = explain_failure(exc, self.host)
        if failure.is_final:
            raise failure from exc
        waiting.wait(failure, self._patience.network_s)

    def _wait_for_server(self, waiting: Waiting, error: ApiError, response: httpx.Response) -> None:
        """Wait if the server asks for a repetition; else raise the error."""
        delay = read_delay(response)
        if error.status not in REPEATED and delay is None:
            raise error
        if error.code == "waking-up":
            self._say(f"The database of {self.host} resumes after a pause, which takes up to half a minute ...")
        waiting.wait(error, self._patience.server_s, delay)


def build_http(url: str) -> httpx.Client:
    """Return a client for an origin; it trusts the certificates of this machine and those that are widely trusted."""
    return httpx.Client(base_url=url, timeout=_TIMEOUT, headers={"Accept": "application/json"}, **_choose_way(url))


def build_storage_http(url: str) -> httpx.Client:
    """Return a client for the presigned URLs of an API, which has no token and trusts what that of the API trusts."""
    return httpx.Client(timeout=_STORAGE_TIMEOUT, **_choose_way(url))


def _choose_way(url: str) -> dict[str, Any]:
    # They log addresses with signatures, and headers with tokens, where a program has logs of this level.
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # Without TLS, the certificates would be read for nothing.
    verify = _build_trust() if url.startswith("https:") else False
    # The proxy of a network must not get what is for this machine.
    return {"verify": verify, "trust_env": httpx.URL(url).host not in LOCAL_HOSTS}


def _build_trust() -> ssl.SSLContext:
    # httpx alone trusts certifi's list or SSL_CERT_FILE. The machine's has the root of a network that inspects.
    try:
        context = httpx.create_ssl_context()
    except OSError as exc:
        variables = "SSL_CERT_FILE and SSL_CERT_DIR"
        raise CommandError(f"The root certificates cannot be read ({exc}). Check {variables}.") from exc
    context.load_default_certs()
    return context
