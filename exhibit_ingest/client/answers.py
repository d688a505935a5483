"""Answers of the API, read: the JSON object, or one error with a sentence and the next step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import httpx

from exhibit_ingest.errors import CommandError
from exhibit_ingest.exit_codes import FAILED, WRONG_USAGE
from exhibit_ingest.printable import shorten_printable

_LONGEST_TEXT = 1000
_HOST = re.compile(r"https?://([^/?#]+)", re.IGNORECASE)
_CLOCK_TOLERANCE_S = 300
_USAGE_CODES = ("invalid-request", "not-found", "name-taken", "already-exists")
# By the last part of a problem's type; other problems say themselves what to do.
_NEXT_STEPS = {
    "forbidden": "Ask the administrator who issues your tokens.",
    "role-required": "Ask the administrator who issues your tokens for that role.",
    "not-found": "Check the number or the name; your tenant, or the cases that you may see, have no such object.",
    "waking-up": "The database resumes after a pause. Run the command again in a minute.",
    "unavailable": "Run the command again in a minute.",
    "in-progress": "Run the command again in a minute.",
    "conflict": "Other requests changed the same rows. Run the command again.",
    "stale-version": "It was changed since it was read. Run the command again.",
}


class ApiError(CommandError):
    """The API, or something before it, answered that the request failed.

    `code` is the last part of the problem's type, such as `already-exists`, and empty without a problem document.
    """

    def __init__(self, message: str, status: int, problem: Mapping[str, Any], request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem
        self.request_id = request_id
        self.code = str(problem.get("type", "")).rpartition(":")[2]
        self.exit_code = WRONG_USAGE if self.code in _USAGE_CODES else FAILED

    @property
    def is_missing_route(self) -> bool:
        """Whether the API has no such route: of a function, or of API Gateway, which has no problem document."""
        by_gateway = self.status == HTTPStatus.NOT_FOUND and "message" in self.problem and "type" not in self.problem
        return self.code == "no-such-route" or by_gateway


def read_answer(response: httpx.Response, host: str) -> dict[str, Any]:
    """Return the object in an answer, empty for one without a body; raise ApiError for every other answer."""
    if response.is_success and not response.content:
        return {}
    body = _read_object(response)
    if body is None:
        raise ApiError(_explain_foreign(response, host), response.status_code, {})
    if response.is_success:
        return body
    request_id = response.headers.get("apigw-requestid")
    raise ApiError(_explain_problem(response, body, host, request_id), response.status_code, body, request_id)


def read_delay(response: httpx.Response) -> float | None:
    """Return the seconds in Retry-After, None where it is missing or not a number."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _read_object(response: httpx.Response) -> dict[str, Any] | None:
    if "json" not in response.headers.get("content-type", ""):
        return None
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _explain_foreign(response: httpx.Response, host: str) -> str:
    kind = response.headers.get("content-type", "").partition(";")[0] or "nothing"
    if response.is_redirect:
        found = _HOST.match(response.headers.get("location", ""))
        kind = f"a redirect to {found[1] if found else 'another page'}"
    return (
        f"{host} answered {response.status_code} with {shorten_printable(kind, 80)} instead of JSON: a proxy or the"
        " sign-in page of a network is in between, or this is not the API of exhibit-ingest. Open the address in a"
        " browser to see the page."
    )


def _explain_problem(response: httpx.Response, body: Mapping[str, Any], host: str, request_id: str | None) -> str:
    status = response.status_code
    if status == HTTPStatus.UNAUTHORIZED:
        return explain_clock(response, host) or f"{host} refused the token. Sign in again."
    text = body.get("detail") or body.get("message") or body.get("title") or f"{host} answered {status}"
    errors = body.get("errors")
    listed = [each for each in errors if isinstance(each, dict)] if isinstance(errors, list) else []
    found = [f"{each.get('location')}: {each.get('message')}" for each in listed]
    sentence = shorten_printable(
        ": ".join([str(text).rstrip("."), *(["; ".join(found)] if found else [])]), _LONGEST_TEXT
    )
    step = _NEXT_STEPS.get(str(body.get("type", "")).rpartition(":")[2], "")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        step = "The API had too many requests. Run the command again in a minute."
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR and not step:
        step = "Run the command again; if it fails again, send the operator of the stack"
        step += f" the number of this request: {request_id}." if request_id else " this message."
    return f"{sentence.rstrip('.')}. {step}".rstrip()


def explain_clock(response: httpx.Response, host: str) -> str | None:
    """Return the sentence for a refused token if the clock of this machine is wrong, else None."""
    off = _measure_clock(response)
    if abs(off) <= _CLOCK_TOLERANCE_S:
        return None
    return (
        f"{host} refused the token, and the clock of this machine is {_format_seconds(abs(off))}"
        f" {'ahead of' if off > 0 else 'behind'} the server's. Set the clock, then run the command again."
    )


def _measure_clock(response: httpx.Response) -> float:
    """Return how many seconds this machine's clock is ahead of the server's; 0 if the answer has no time."""
    try:
        there = parsedate_to_datetime(response.headers.get("date", ""))
    except ValueError:
        return 0
    return (datetime.now(UTC) - there).total_seconds() if there.tzinfo else 0


def _format_seconds(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"
