"""Requests: the caller, the route, the fingerprint, and the rejection of requests that can be read in several ways.

Guaranteed: tenant and user come only from `authorize`, and so from the claims of the token; input that a library would
interpret (a form as JSON, one of two values, an id or a query parameter in another notation) is rejected. A number in
a body is an integer if JSON Schema calls it one (`500.0`, `5e2`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import Request, Response
from pydantic.alias_generators import to_camel

from core.caller import Caller
from core.contracts.common import MAX_ID, FieldProblem
from core.contracts.exhibit_queries import COMMA, REPEATABLE
from core.contracts.problems import INVALID, UNSUPPORTED
from core.errors import InvalidInputError
from core.http_headers import parse_idempotency_key
from core.idempotency import KeyedRequest
from core.imports.preview_ids import PREVIEW_ID
from shell.api.authorization import CALLER, GRANT, Grant
from shell.api.problems import JSON, MAX_ERRORS, MAX_NAME_CHARACTERS, MERGE_PATCH, build_problem
from shell.api.resolver import OPERATIONS, Operation

_ID = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)
# Ids that are not numbers.
_IDS = {"{preview_id}": PREVIEW_ID}


@dataclass(frozen=True)
class ApiRequest:
    """A request as its handler receives it."""

    caller: Caller
    route: str
    grant: Grant
    _request: Request

    def keyed(self, key: str | None) -> KeyedRequest:
        """Return the request with the key of its Idempotency-Key header.

        Two requests have the same fingerprint if method, path, query, If-Match, body and the caller's limits are the
        same, regardless of the whitespace in the body and the order of its fields. Raises InvalidInputError for an
        invalid key.
        """
        parsed = None if key is None else parse_idempotency_key(key)
        fingerprint = _compute_fingerprint(self._request, self.caller.cases)
        return KeyedRequest(self.caller.tenant_id, self.route, parsed, fingerprint)


def parse_request(request: Request) -> ApiRequest:
    """Return the caller and the route of a request.

    Raises InvalidInputError for an id or a body in another form or an unknown query parameter: if a misspelled filter
    were ignored, the response would be wrong.
    """
    operation = request.context[OPERATIONS][request.method, request.route]
    _require_decimal_ids(request)
    _require_object(request, operation)
    _reject_unknown_parameters(request, operation)
    route = f"{request.method} {request.route}"
    return ApiRequest(request.context[CALLER], route, request.context[GRANT], request)


def _require_decimal_ids(request: Request) -> None:
    """Reject `+1` and `1.0`, which would be read as 1: one object must have one path."""
    parts = zip(request.route.split("/"), str(request.resolved_event.get("rawPath")).split("/"), strict=False)
    invalid = [part for part, sent in parts if part.startswith("{") and not _IDS.get(part, _ID).fullmatch(sent)]
    if invalid and invalid[0] in _IDS:
        raise InvalidInputError(f"{to_camel(invalid[0][1:-1])} in the path must be an id as it was returned.")
    if invalid:
        raise InvalidInputError(f"{to_camel(invalid[0][1:-1])} in the path must be a number from 1, in digits only.")


def _require_object(request: Request, operation: Operation) -> None:
    """Reject an array, of which Powertools would take the first element for the body."""
    if operation.takes_object and str(request.body or "").lstrip().startswith("["):
        raise InvalidInputError("The body must be one JSON object, not an array.")


def _reject_unknown_parameters(request: Request, operation: Operation) -> None:
    known = {field.alias for model in operation.query_models for field in model.model_fields.values()}
    unknown = sorted(set(request.query_parameters or {}) - known)
    if unknown:
        names = f"its query parameters are {', '.join(sorted(map(str, known)))}" if known else "send none"
        raise InvalidInputError(f"The route has no query parameter {unknown[0][:100]!r}; {names}.")


def reject_ambiguous(event: Mapping[str, Any]) -> Response[str] | None:
    """Return the response to a request that Powertools would misread, or None.

    Powertools reads a form as JSON, and only the first of several values of a query parameter that is not a list.
    """
    values = parse_qs(event.get("rawQueryString") or "", keep_blank_values=True)
    errors = [
        FieldProblem(location=f"query/{name[:MAX_NAME_CHARACTERS]}", message="the parameter is repeated")
        for name, several in values.items()
        if len(several) > 1 and name not in REPEATABLE
    ]
    if errors:
        return build_problem(INVALID, "Send every query parameter once; see `errors`.", errors=errors[:MAX_ERRORS])
    if any(COMMA in each for name in REPEATABLE for each in values.get(name, ())):
        return build_problem(INVALID, "The query has U+FDD0, which is not a character; remove it.")
    if event.get("body") and _media_type(event) not in _media_types(event):
        return build_problem(UNSUPPORTED, "Send the body as application/json.")
    return None


def _media_types(event: Mapping[str, Any]) -> tuple[str, ...]:
    method = ((event.get("requestContext") or {}).get("http") or {}).get("method")
    return ("", JSON, MERGE_PATCH) if method == "PATCH" else ("", JSON)


def _media_type(event: Mapping[str, Any]) -> str:
    return str((event.get("headers") or {}).get("content-type", "")).partition(";")[0].strip().lower()


def normalize_query(event: dict[str, Any]) -> dict[str, Any]:
    """Return the event with COMMA for each comma within a value of a parameter that may be repeated."""
    values = parse_qs(event.get("rawQueryString") or "", keep_blank_values=True)
    joined = {name: ",".join(each.replace(",", COMMA) for each in values[name]) for name in REPEATABLE & values.keys()}
    return {**event, "queryStringParameters": {**(event.get("queryStringParameters") or {}), **joined}}


def normalize_body(event: dict[str, Any]) -> dict[str, Any]:
    """Return the event with its body as text. A body that is not UTF-8 becomes text that JSON parsing rejects."""
    event = {**event, "headers": {**(event.get("headers") or {}), "content-type": JSON}}
    if not event.get("isBase64Encoded"):
        return event
    try:
        body = base64.b64decode(event.get("body") or "", validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        body = "\0"
    return {**event, "isBase64Encoded": False, "body": body}


def parse_json(body: str) -> Any:
    """Return the JSON document.

    Raises JSONDecodeError, also for repeated fields and for a document whose nesting or numbers Python cannot hold.
    """
    try:
        return json.loads(body, object_pairs_hook=_build_object, parse_float=partial(_parse_number, otherwise=float))
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as exc:
        raise json.JSONDecodeError("cannot be read", "", 0) from exc


def _parse_number(text: str, otherwise: Callable[[str], float | str]) -> int | float | str:
    """Return a number with a fraction or an exponent as an integer if it is exactly one, else as `otherwise` does.

    JSON Schema (2020-12 Validation, section 6.1.1) calls any number with a zero fractional part an integer. Beyond
    `MAX_ID` the API takes none.
    """
    number = float(text)
    if not number.is_integer() or abs(number) > MAX_ID:
        return otherwise(text)
    try:
        return int(number) if Decimal(text) == number else otherwise(text)
    except InvalidOperation:  # an exponent that Decimal cannot hold
        return otherwise(text)


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Raises ValueError for a repeated field, of which parsers choose different values."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field is repeated")
    return fields


def _compute_fingerprint(request: Request, cases: frozenset[str] | None) -> bytes:
    """Hash the request. Numbers that are not integers are hashed as text: as floats, different ones could be equal."""
    event = request.resolved_event
    try:
        body = json.loads(request.body or "null", parse_float=partial(_parse_number, otherwise=str))
    except (ValueError, RecursionError):
        # The route ignores its body, which is still part of the request.
        body = request.body
    parts = [
        *(request.method, event.get("rawPath"), event.get("rawQueryString"), event.headers.get("if-match")),
        *(json.dumps(body, sort_keys=True),),
        # No caller gets the response to a request about a case that does not exist for them.
        *([] if cases is None else sorted(cases)),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).digest()
