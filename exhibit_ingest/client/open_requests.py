"""Requests that carry no token: to the sign-in configuration of a stack, and to the issuer of its tokens."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from exhibit_ingest.client.answers import ApiError, read_answer, read_delay
from exhibit_ingest.client.api import REPEATED, build_http
from exhibit_ingest.client.failures import explain_failure
from exhibit_ingest.client.waiting import Patience, Waiting


def get_object(url: str, patience: Patience | None = None) -> dict[str, object]:
    """Return the JSON object at a URL; raise CommandError for every failure. A repetition does no harm."""
    patience = patience or Patience()
    with build_http(url) as http:
        waiting = Waiting(patience)
        while True:
            try:
                response = http.get(url)
                return read_answer(response, response.url.netloc.decode())
            except httpx.RequestError as exc:
                failure = explain_failure(exc, httpx.URL(url).netloc.decode())
                if failure.is_final:
                    raise failure from exc
                waiting.wait(failure, patience.network_s)
            except ApiError as error:
                if error.status not in REPEATED:
                    raise
                waiting.wait(error, patience.server_s, read_delay(response))


def post(url: str, *, form: Mapping[str, str] | None = None, json: Mapping[str, str] | None = None) -> httpx.Response:
    """Return the response to a request that is sent once: a code can be exchanged only once.

    Raises UnreachableError if no answer came.
    """
    with build_http(url) as http:
        try:
            return http.post(url, data=form, json=json)
        except httpx.RequestError as exc:
            raise explain_failure(exc, httpx.URL(url).netloc.decode()) from exc
