"""What is answered: problem documents for errors, and what the OpenAPI document says of a route's answers.

Guaranteed: every error becomes a problem document (RFC 9457) with a name that scripts can rely on; an error that is not
ours says nothing of what it met, and one of a request says where it is wrong and how, without the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from core.contracts.common import CustodyConflict, FieldProblem, Problem
from core.contracts.problems import FALLBACK, INVALID, PROBLEM_URN, ProblemKind, kind_of
from core.custody import Conflict, given_end
from core.errors import ExhibitIngestError, OverlapError, StaleVersionError
from shell.invocation import log_failure

JSON, PROBLEM, MERGE_PATCH = "application/json", "application/problem+json", "application/merge-patch+json"
LONGEST_NAME = 64


def answers(
    status: int, model: type[BaseModel], *problems: int, etag: bool = False, location: bool = False
) -> dict[int, OpenAPIResponse]:
    """What a route answers, for the OpenAPI document: the model, and the problems beside those that any route has."""
    good: OpenAPIResponse = {"description": HTTPStatus(status).phrase, "content": {JSON: {"model": model}}}
    if etag:
        good["headers"] = {"ETag": {"description": "The version, for If-Match.", "schema": {"type": "string"}}}
    if location:
        good["headers"] = {"Location": {"description": "Where it is found from now on.", "schema": {"type": "string"}}}
    documents = {status: good}
    for code in sorted({400, 403, 415, 500, 503, *problems}):
        documents[code] = {"description": HTTPStatus(code).phrase, "content": {PROBLEM: {"model": Problem}}}
    return documents


def problem(
    kind: ProblemKind,
    detail: str,
    *,
    errors: list[FieldProblem] | None = None,
    current_version: int | None = None,
    conflicts: list[CustodyConflict] | None = None,
    retry_after_s: int | None = None,
) -> Response[str]:
    """A problem document as an answer."""
    retry_after = kind.retry_after_s if retry_after_s is None else retry_after_s
    document = Problem(
        type=f"{PROBLEM_URN}{kind.name}",
        title=kind.title,
        status=kind.status,
        detail=detail,
        errors=errors,
        current_version=current_version,
        conflicts=conflicts,
    )
    headers: Mapping[str, Any] = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = document.model_dump_json(by_alias=True, exclude_none=True)
    return Response(kind.status, PROBLEM, body, headers=headers)


def of_ours(error: ExhibitIngestError) -> Response[str]:
    """Of an error that we raise on purpose: it says itself what to do."""
    kind = kind_of(error)
    if kind.status >= 500:
        log_failure(error)
    current = error.current_version if isinstance(error, StaleVersionError) else None
    overlaps = list(map(_overlap, error.conflicts)) if isinstance(error, OverlapError) else None
    detail = str(error) if kind is not FALLBACK else FALLBACK.title
    retry_after_s = getattr(error, "retry_after_s", None)
    return problem(kind, detail, current_version=current, conflicts=overlaps, retry_after_s=retry_after_s)


def _overlap(conflict: Conflict) -> CustodyConflict:
    other = conflict.other
    return CustodyConflict(
        element=conflict.element,
        device_id=other.device_id,
        **{"period_id" if conflict.is_recorded else "other_element": other.id},
        begin=other.begin,
        end=given_end(other.end),
    )


def of_unexpected(error: Exception) -> Response[str]:
    """Of any other error."""
    log_failure(error)
    return problem(FALLBACK, "Something went wrong here; the operator finds it in the log of this request.")


def of_invalid(error: RequestValidationError) -> Response[str]:
    """Of a request that is not as its contract says: where and how, without the values."""
    errors = [
        FieldProblem(location=_location(each["loc"]), message=_message(each)) for each in list(error.errors())[:20]
    ]
    return problem(INVALID, "The request is not as the OpenAPI document describes it; see `errors`.", errors=errors)


def _location(parts: Sequence[Any]) -> str:
    """As the client knows it: without the name of our argument, and spelled as in the document."""
    place, *rest = map(str, parts)
    match place:
        case "query":
            rest = rest[1:]
        case "path":
            rest = [to_camel(name) for name in rest]
        case "header":
            rest = ["-".join(part.capitalize() for part in name.split("-")) for name in rest]
    # Names of members come from the client.
    return "/".join(part[:LONGEST_NAME] for part in [place, *rest])


def _message(error: Mapping[str, Any]) -> str:
    if error["type"] == "missing" and error["loc"][0] == "header":
        return "send a new one with every new request, and the same one with a repetition"
    return str(error.get("msg", error["type"])).removeprefix("Value error, ")
