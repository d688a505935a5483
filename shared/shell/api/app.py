"""The application that API Gateway invokes: its resolver, its Lambda handler, and the parameters that routes share."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Annotated, Any, TypeVar

from aws_lambda_powertools.event_handler import Response as HttpResponse
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType, RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Path, Query

from core.contracts.common import MAX_BATCH, MAX_ID
from core.contracts.exhibit_queries import ExhibitKeysQuery, ExhibitQuery
from core.contracts.pages import ListQuery, NewestFirst, OneCaseQuery, PageQuery
from core.contracts.problems import NO_ROUTE, UNSUPPORTED
from core.contracts.queries import (
    ActivityQuery,
    CasesQuery,
    CodeQuery,
    CustodiansQuery,
    DeviceQuery,
    DevicesQuery,
    ExportQuery,
    FilesQuery,
    FindingQuery,
    ImportQuery,
    NamesQuery,
    PeriodQuery,
    PreviewQuery,
    ProductionQuery,
    ProfileQuery,
    RejectedRowQuery,
    RejectionQuery,
    SimilarQuery,
    TaggingJobQuery,
    TextQuery,
    UploadQuery,
    UsersQuery,
    VolumeQuery,
)
from core.errors import ExhibitIngestError
from core.http_headers import MAX_KEY_CHARACTERS
from core.imports.preview_ids import PATTERN
from core.roles import Role
from shell.api.authorization import authorize, require_access
from shell.api.problems import (
    build_problem,
    declare,
    declare_poll,
    handle_application_error,
    handle_unexpected_error,
    handle_validation_error,
)
from shell.api.requests import ApiRequest, normalize_body, normalize_query, parse_json, parse_request, reject_ambiguous
from shell.api.resolver import OPERATIONS, ApiResolver
from shell.deadline import invocation_deadline
from shell.observability import logger, naming_tenant
from shell.outbox.writer import caused_by

Response = HttpResponse[str]
REJECTION = "rejection"
Handler = Callable[[dict[str, Any], Any], Any]

_KEY = (
    f"A unique key of at most {MAX_KEY_CHARACTERS} printable ASCII characters, bare or in double quotes. "
    "Send a new key with every new request, and the same key when you repeat a request."
)
Id = Annotated[int, Path(ge=1, le=MAX_ID, description="The id, as lists and responses return it.")]
# The patterns of both headers are in the OpenAPI document only: `http_headers` rejects them with a better message.
Key = Annotated[str, Header(alias="Idempotency-Key", description=_KEY)]
OptionalKey = Annotated[str | None, Header(alias="Idempotency-Key", description=f"Optional. {_KEY}")]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="Required (428 without it): the ETag of the version that you are changing, or * for any version.",
    ),
]
IfSeen = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="The `optionsVersion` that was seen, in quotes, or * for any. Required (428 without it) once the "
        "options were changed.",
    ),
]
T = TypeVar("T")
# Without Body, Powertools takes an array for a query parameter.
Batch = Annotated[list[T], Body(min_length=1, max_length=MAX_BATCH)]
Page = Annotated[PageQuery, Query()]
List = Annotated[ListQuery, Query()]
Changes = Annotated[NewestFirst, Query()]
CodeFilter = Annotated[CodeQuery, Query()]
ImportFilter = Annotated[ImportQuery, Query()]
RejectionFilter = Annotated[RejectionQuery, Query()]
RejectedRowFilter = Annotated[RejectedRowQuery, Query()]
FindingFilter = Annotated[FindingQuery, Query()]
ExhibitFilter = Annotated[ExhibitQuery, Query()]
ExhibitKeyFilter = Annotated[ExhibitKeysQuery, Query()]
ProfileFilter = Annotated[ProfileQuery, Query()]
VolumeFilter = Annotated[VolumeQuery, Query()]
PreviewOptions = Annotated[PreviewQuery, Query()]
PreviewId = Annotated[str, Path(pattern=PATTERN, description="The id, as POST /previews returned it.")]
UploadPath = Annotated[UploadQuery, Query()]
CaseFilter = Annotated[OneCaseQuery, Query()]
CasesFilter = Annotated[CasesQuery, Query()]
SimilarFilter = Annotated[SimilarQuery, Query()]
CustodiansFilter = Annotated[CustodiansQuery, Query()]
TagsFilter = Annotated[NamesQuery, Query()]
UsersFilter = Annotated[UsersQuery, Query()]
ActivityFilter = Annotated[ActivityQuery, Query()]
DeviceFilter = Annotated[DeviceQuery, Query()]
DevicesFilter = Annotated[DevicesQuery, Query()]
ExportFilter = Annotated[ExportQuery, Query()]
ProductionFilter = Annotated[ProductionQuery, Query()]
TaggingJobFilter = Annotated[TaggingJobQuery, Query()]
PeriodFilter = Annotated[PeriodQuery, Query()]
TextPart = Annotated[TextQuery, Query()]
FilesPage = Annotated[FilesQuery, Query()]
# The errors of a change to a versioned object, besides those that every route can return.
VERSIONED = (404, 409, 412, 422, 428)
# What a route is open to, and returns: the role beside its path is the one that `authorize` requires.
for_viewers = partial(declare, Role.VIEWER)
for_editors = partial(declare, Role.EDITOR)
for_admins = partial(declare, Role.ADMIN)
for_polls = declare_poll
Request = Annotated[ApiRequest, Depends(parse_request)]


def http_app(*, is_by_case: bool = True) -> ApiResolver:
    """Return a resolver that authorizes requests by their roles, validates them by their contracts, and returns every
    error as a problem document. Unless `is_by_case`, tokens that are limited to cases cannot use it.
    """
    app = ApiResolver(
        is_by_case=is_by_case,
        enable_validation=True,
        response_validation_error_http_code=500,
        json_body_deserializer=parse_json,
    )
    app.use(middlewares=[authorize, _reject_ambiguous])
    app.exception_handler(RequestValidationError)(partial(_handle_invalid, app))
    app.exception_handler(RequestUnsupportedContentType)(
        lambda _error: build_problem(UNSUPPORTED, "Send the body as application/json.")
    )
    app.not_found(
        lambda _error: build_problem(NO_ROUTE, "The route does not exist; the OpenAPI document lists all routes.")
    )
    app.exception_handler(ExhibitIngestError)(handle_application_error)
    app.exception_handler(Exception)(handle_unexpected_error)
    return app


def _reject_ambiguous(app: ApiResolver, next_middleware: NextMiddleware) -> Response:
    rejection: Response | None = app.context[REJECTION]
    return next_middleware(app) if rejection is None else rejection


def _handle_invalid(app: ApiResolver, error: RequestValidationError) -> Response:
    """Return the response to an invalid request; what its token does not allow is refused first.

    Powertools validates before any middleware runs.
    """
    try:
        require_access(app)
    except ExhibitIngestError as refusal:
        return handle_application_error(refusal)
    rejection: Response | None = app.context[REJECTION]
    return handle_validation_error(error) if rejection is None else rejection


def http_handler(app: ApiResolver) -> Handler:
    """Return the Lambda handler of a resolver.

    Its module can be imported before a snapshot (Lambda SnapStart) from which many environments start: nothing that is
    imported opens a connection, and each environment gets random numbers of its own at its first request.
    """

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        _seed_once()
        request_id = (event.get("requestContext") or {}).get("requestId")
        cause = (event.get("headers") or {}).get("traceparent")
        with (
            invocation_deadline(context),
            caused_by(cause),
            logger.append_context_keys(request_id=request_id),
            naming_tenant(None),
        ):
            app.context[OPERATIONS] = app.operations
            app.context[REJECTION] = reject_ambiguous(event)
            return app.resolve(normalize_query(normalize_body(event)), context)

    return lambda_handler


@lru_cache(maxsize=1)
def _seed_once() -> None:
    # The jitter of retries, here and in botocore, is drawn from this generator. Keys and tokens come from the kernel.
    random.seed()
