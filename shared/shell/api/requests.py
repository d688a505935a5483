"""What is asked: who asks, for what, and whether the request is one that can be read in one way alone.

Guaranteed: tenant and user come from the checked token's claims and from nothing else; what a library would read as
something (a form as JSON, one of two values, a number in another spelling) is refused.
Not guaranteed: that the token is genuine; API Gateway's authorizer has checked it, and no route is without one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_origin
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import Request, Response
from pydantic.alias_generators import to_camel

from core.caller import Caller
from core.contracts.common import FieldProblem
from core.contracts.problems import INVALID, UNSUPPORTED
from core.errors import InvalidInputError
from core.http_headers import idempotency_key
from core.idempotency import KeyedRequest
from shell.http_problems import JSON, LONGEST_NAME, MERGE_PATCH, problem
from shell.settings import settings

_ID = re.compile(r"[1-9][0-9]{0,15}", re.ASCII)


@dataclass(frozen=True)
class ApiRequest:
    """A request as a route sees it."""

    caller: Caller
    route: str
    _request: Request

    def keyed(self, key: str | None) -> KeyedRequest:
        """The request under the key that its Idempotency-Key field holds.

        Its fingerprint is the same for the same method, path, query, precondition and body, whatever the order of the
        body's members or its spaces. Raises InvalidInputError for what is no key.
        """
        clean = None if key is None else idempotency_key(key)
        return KeyedRequest(self.caller.tenant_id, self.route, clean, _fingerprint(self._request))


def asked(request: Request) -> ApiRequest:
    """Who asks for what.

    Raises ForbiddenError for a token without tenant or user, InvalidInputError for a query parameter that the route
    does not know: a misspelt condition that is ignored would answer another question.
    """
    _refuse_odd_ids(request)
    _refuse_an_array_for_an_object(request)
    _refuse_unknown_parameters(request)
    context = request.resolved_event.get("requestContext") or {}
    claims = ((context.get("authorizer") or {}).get("jwt") or {}).get("claims") or {}
    caller = Caller.of_claims(claims, settings().tenant_claim)
    return ApiRequest(caller, f"{request.method} {request.route}", request)


def _refuse_odd_ids(request: Request) -> None:
    """`+1` and `1.0` would be read as 1: the same thing under other names."""
    parts = zip(request.route.split("/"), str(request.resolved_event.get("rawPath")).split("/"), strict=False)
    odd = [part for part, sent in parts if part.startswith("{") and not _ID.fullmatch(sent)]
    if odd:
        raise InvalidInputError(f"{to_camel(odd[0][1:-1])} in the path is a number from 1, written in digits alone")


def _refuse_an_array_for_an_object(request: Request) -> None:
    """Powertools would take an array's first element for the body, and the others for nothing."""
    fields = request.context["_route"].dependant.body_params
    if fields and get_origin(fields[0].type_) is not list and str(request.body or "").lstrip().startswith("["):
        raise InvalidInputError("the body is one JSON object, not an array of them")


def _refuse_unknown_parameters(request: Request) -> None:
    models = [field.type_ for field in request.context["_route"].dependant.query_params]
    known = {field.alias for model in models for field in model.model_fields.values()}
    unknown = sorted(set(request.query_parameters or {}) - known)
    if unknown:
        takes = f"it takes {', '.join(sorted(map(str, known)))}" if known else "it takes none"
        raise InvalidInputError(f"the route has no query parameter {unknown[0][:100]!r}; {takes}")


def refusal(event: Mapping[str, Any]) -> Response[str] | None:
    """What Powertools would take for something else: forms as JSON, the first of several values of a parameter."""
    repeated = [
        name
        for name, values in parse_qs(event.get("rawQueryString") or "", keep_blank_values=True).items()
        if len(values) > 1
    ]
    if repeated:
        errors = [
            FieldProblem(location=f"query/{name[:LONGEST_NAME]}", message="it is there twice") for name in repeated[:20]
        ]
        return problem(INVALID, "A query parameter may be given once; see `errors`.", errors=errors)
    if event.get("body") and _media_type(event) not in _media_types(event):
        return problem(UNSUPPORTED, "Send the body as application/json.")
    return None


def _media_types(event: Mapping[str, Any]) -> tuple[str, ...]:
    method = ((event.get("requestContext") or {}).get("http") or {}).get("method")
    return ("", JSON, MERGE_PATCH) if method == "PATCH" else ("", JSON)


def _media_type(event: Mapping[str, Any]) -> str:
    return str((event.get("headers") or {}).get("content-type", "")).partition(";")[0].strip().lower()


def readable(event: dict[str, Any]) -> dict[str, Any]:
    """The event with its body as text; a body that is no UTF-8 becomes one that is no JSON, and is refused as such."""
    event = {**event, "headers": {**(event.get("headers") or {}), "content-type": JSON}}
    if not event.get("isBase64Encoded"):
        return event
    try:
        body = base64.b64decode(event.get("body") or "", validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        body = "\0"
    return {**event, "isBase64Encoded": False, "body": body}


def json_of(body: str) -> Any:
    """The document; one that is nested or counts beyond all reason is as good as none."""
    try:
        return json.loads(body, object_pairs_hook=_members)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as exc:
        raise json.JSONDecodeError("cannot be read", "", 0) from exc


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one with a member twice is refused, for readers differ in which of the two counts."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member is there twice")
    return members


def _fingerprint(request: Request) -> bytes:
    """Numbers are compared as they are written: as binary fractions, different ones could be equal."""
    event = request.resolved_event
    try:
        body = json.loads(request.body or "null", parse_float=str)
    except (ValueError, RecursionError):
        # Of a route that takes no body; whatever came is a part of the request.
        body = request.body
    said = [
        *(request.method, event.get("rawPath"), event.get("rawQueryString"), event.headers.get("if-match")),
        *(json.dumps(body, sort_keys=True),),
    ]
    return hashlib.sha256(json.dumps(said).encode()).digest()
