"""The responses to errors, and the declarations of a route's responses for the OpenAPI document.

Guaranteed: every error becomes a problem document (RFC 9457) whose name never changes; an unexpected error discloses
nothing about its cause; a validation error names the invalid parts of the request, without their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypedDict

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from core.case_names import UnknownCaseError
from core.contracts.common import CustodyConflict, FieldProblem, Problem, ProductionFinding, SimilarCase
from core.contracts.problems import FALLBACK, INVALID, PROBLEM_URN, ProblemKind, get_problem_kind
from core.contracts.refusals import CorrectionRefusedError
from core.custody import PeriodConflict, to_open_end
from core.errors import (
    ExhibitIngestError,
    FileRefusedError,
    OverlapError,
    ProductionRefusedError,
    RoleMissingError,
    StaleVersionError,
)
from core.roles import Role
from shell.observability import emit_counts, log_failure

JSON, PROBLEM, MERGE_PATCH = "application/json", "application/problem+json", "application/merge-patch+json"
MAX_NAME_CHARACTERS, MAX_ERRORS = 64, 20
SCHEME = "token"


class Declaration(TypedDict):
    """What a route declares: the role that it requires, and its responses."""

    security: list[dict[str, list[str]]]
    responses: dict[int, OpenAPIResponse]


def declare(
    role: Role, status: int, model: type[BaseModel], *problems: int, etag: bool = False, location: bool = False
) -> Declaration:
    """Return what a route declares: its role, the model, `problems`, and the problems of every route.

    In OpenAPI 3.1, the names beside a bearer token are the roles that it must have.
    """
    success: OpenAPIResponse = {"description": HTTPStatus(status).phrase, "content": {JSON: {"model": model}}}
    texts = {"ETag": "The version, for If-Match."} if etag else {}
    texts |= {"Location": "The path of the new object."} if location else {}
    if texts:
        success["headers"] = {name: {"description": each, "schema": {"type": "string"}} for name, each in texts.items()}
    responses = {status: success}
    for code in sorted({400, 403, 415, 500, 503, *problems}):
        responses[code] = {"description": HTTPStatus(code).phrase, "content": {PROBLEM: {"model": Problem}}}
    forbidden = f"Forbidden: the token names no tenant and user, or does not have the role {role.value}"
    responses[HTTPStatus.FORBIDDEN]["description"] = forbidden
    return {"security": [{SCHEME: [role.value]}], "responses": responses}


def declare_poll(model: type[BaseModel]) -> Declaration:
    """Return what a route for viewers declares that answers with a weak ETag, or with 304 to a client that has it."""
    declaration = declare(Role.VIEWER, 200, model, 404)
    responses = declaration["responses"]
    responses[304] = {"description": HTTPStatus(304).phrase}
    for status in (200, 304):
        responses[status]["headers"] = {"ETag": {"description": "For If-None-Match.", "schema": {"type": "string"}}}
    return declaration


def build_problem(
    kind: ProblemKind,
    detail: str,
    *,
    errors: list[FieldProblem] | None = None,
    current_version: int | None = None,
    conflicts: list[CustodyConflict] | None = None,
    required_role: str | None = None,
    failure_code: str | None = None,
    columns: list[str] | None = None,
    findings: Sequence[ProductionFinding] | None = None,
    similar: list[SimilarCase] | None = None,
    retry_after_s: int | None = None,
) -> Response[str]:
    """Return a response with a problem document. A response of 500 is counted: it rolls back a deployment that runs."""
    if kind is FALLBACK:
        emit_counts(UnexpectedErrors=1)
    retry_after = kind.retry_after_s if retry_after_s is None else retry_after_s
    document = Problem(
        type=f"{PROBLEM_URN}{kind.name}",
        title=kind.title,
        status=kind.status,
        detail=detail,
        errors=errors,
        current_version=current_version,
        conflicts=conflicts,
        failure_code=failure_code,
        columns=columns,
        findings=None if findings is None else list(findings),
        required_role=None if required_role is None else Role(required_role),
        similar=similar,
    )
    headers: Mapping[str, Any] = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = document.model_dump_json(by_alias=True, exclude_none=True)
    return Response(kind.status, PROBLEM, body, headers=headers)


def handle_application_error(error: ExhibitIngestError) -> Response[str]:
    """Return the response to an error of this application, whose message is meant for the client."""
    kind = get_problem_kind(error)
    if kind.status >= 500:
        log_failure(error)
    current = error.current_version if isinstance(error, StaleVersionError) else None
    conflicts = list(map(_describe_conflict, error.conflicts)) if isinstance(error, OverlapError) else None
    role = error.required if isinstance(error, RoleMissingError) else None
    detail = str(error) if kind is not FALLBACK else FALLBACK.title
    refusals = error.refusals[:MAX_ERRORS] if isinstance(error, CorrectionRefusedError) else ()
    return build_problem(
        kind,
        detail,
        errors=[FieldProblem(location=place, message=reason) for place, reason in refusals] or None,
        current_version=current,
        conflicts=conflicts,
        required_role=role,
        failure_code=str(error.code) if isinstance(error, FileRefusedError) else None,
        columns=getattr(error, "columns", None),
        findings=error.findings if isinstance(error, ProductionRefusedError) else None,
        similar=_describe_similar(error) if isinstance(error, UnknownCaseError) else None,
        retry_after_s=getattr(error, "retry_after_s", None),
    )


def _describe_similar(error: UnknownCaseError) -> list[SimilarCase]:
    return [SimilarCase(id=case_id, name=name) for case_id, name in error.similar]


def _describe_conflict(conflict: PeriodConflict) -> CustodyConflict:
    other = conflict.other
    return CustodyConflict(
        element=conflict.element,
        device_id=other.device_id,
        **{"period_id" if conflict.is_recorded else "other_element": other.id},
        begin=other.begin,
        end=to_open_end(other.end),
    )


def handle_unexpected_error(error: Exception) -> Response[str]:
    """Return the response to an unexpected error, and log it."""
    log_failure(error)
    return build_problem(
        FALLBACK,
        "Repeat the request, with the same Idempotency-Key if it has one. If it fails again, send the operator the "
        "apigw-requestid header of this response; the log has the cause.",
    )


def handle_validation_error(error: RequestValidationError) -> Response[str]:
    """Return the response to a request that does not match its contract: each invalid part, without its value."""
    found = list(error.errors())[:MAX_ERRORS]
    errors = [FieldProblem(location=_locate(each["loc"]), message=_describe(each)) for each in found]
    return build_problem(INVALID, "The request does not match the OpenAPI document; see `errors`.", errors=errors)


def _locate(parts: Sequence[Any]) -> str:
    """Return a location as the client knows it: without the name of the handler's argument, in the API's spelling."""
    place, *rest = map(str, parts)
    match place:
        case "query":
            rest = rest[1:]
        case "path":
            rest = [to_camel(name) for name in rest]
        case "header":
            rest = ["-".join(part.capitalize() for part in name.split("-")) for name in rest]
    # The client chooses the names of fields.
    return "/".join(part[:MAX_NAME_CHARACTERS] for part in [place, *rest])


def _describe(error: Mapping[str, Any]) -> str:
    if error["type"] == "missing" and error["loc"][0] == "header":
        return "the header is missing; send a new key with every new request, and the same key when you repeat one"
    return str(error.get("msg", error["type"])).removeprefix("Value error, ")
