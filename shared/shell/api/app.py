"""The API's side of API Gateway: the resolver behind every route, and the parameters that routes have in common.

Not guaranteed: that two requests of one process may run at once. Powertools' resolver holds the current one, and Lambda
sends one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType, RequestValidationError

# Body is for routes: an array is taken for a query parameter unless it says so.
from aws_lambda_powertools.event_handler.openapi.params import Body as Body
from aws_lambda_powertools.event_handler.openapi.params import Header, Path, Query

from core.contracts.common import MAX_ID
from core.contracts.problems import NO_ROUTE, UNSUPPORTED
from core.contracts.queries import (
    CaseQuery,
    DeviceQuery,
    ExhibitQuery,
    ImportQuery,
    PageQuery,
    PeriodQuery,
    ProductionQuery,
)
from core.errors import ExhibitIngestError
from core.http_headers import MAX_KEY_CHARACTERS
from shell.http_problems import PROBLEM, of_invalid, of_ours, of_unexpected, problem
from shell.http_problems import answers as answers
from shell.http_requests import ApiRequest, asked, json_of, readable, refusal
from shell.invocation import invocation_deadline
from shell.observability import logger

Answered = Response[str]
Handler = Callable[[dict[str, Any], Any], Any]

_KEY = f"A new one for every new request, at most {MAX_KEY_CHARACTERS} printable ASCII characters, bare or in quotes."
PathId = Annotated[int, Path(ge=1, le=MAX_ID, description="As lists and answers give it.")]
# Their patterns are in the OpenAPI document alone: `http_headers` refuses with a sentence that says what to do.
Key = Annotated[str, Header(alias="Idempotency-Key", description=f"{_KEY} The same for a repetition.")]
MaybeKey = Annotated[str | None, Header(alias="Idempotency-Key", description=f"{_KEY} It may be left out.")]
IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", description="Required (428 without it): the ETag of the version that you are changing."),
]
Page = Annotated[PageQuery, Query()]
WhichImports = Annotated[ImportQuery, Query()]
WhichExhibits = Annotated[ExhibitQuery, Query()]
OfCase = Annotated[CaseQuery, Query()]
OfDevice = Annotated[DeviceQuery, Query()]
WhichProductions = Annotated[ProductionQuery, Query()]
WhichPeriods = Annotated[PeriodQuery, Query()]
# What may become of a change of something that has versions, beside what any route may answer.
VERSIONED = (404, 409, 412, 422, 428)
Asked = Annotated[ApiRequest, Depends(asked)]


def http_app() -> APIGatewayHttpResolver:
    """A resolver that checks requests against their contracts and answers every error with a problem document."""
    app = APIGatewayHttpResolver(
        enable_validation=True, response_validation_error_http_code=500, json_body_deserializer=json_of
    )
    app.exception_handler(RequestValidationError)(of_invalid)
    app.exception_handler(RequestUnsupportedContentType)(
        lambda _error: problem(UNSUPPORTED, "Send the body as application/json.")
    )
    app.not_found(lambda _error: problem(NO_ROUTE, "There is no such route; the OpenAPI document lists them."))
    app.exception_handler(ExhibitIngestError)(of_ours)
    app.exception_handler(Exception)(of_unexpected)
    return app


def http_handler(app: APIGatewayHttpResolver) -> Handler:
    """The Lambda handler of a resolver."""

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        request_id = (event.get("requestContext") or {}).get("requestId")
        with invocation_deadline(context), logger.append_context_keys(request_id=request_id):
            refused = refusal(event)
            return app.resolve(readable(event), context) if refused is None else _as_event(refused)

    return lambda_handler


def _as_event(answer: Response[str]) -> dict[str, Any]:
    headers = {"Content-Type": PROBLEM, **{name: str(value) for name, value in answer.headers.items()}}
    return {"statusCode": answer.status_code, "headers": headers, "body": answer.body, "isBase64Encoded": False}
