"""What all requests and responses share: camelCase names, strict validation, pagination, problem documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
    create_model,
)
from pydantic.alias_generators import to_camel

from core.contracts.problems import PROBLEM_NAMES, PROBLEM_URN
from core.productions.findings import FindingCode
from core.roles import Role
from core.timestamps import format_timestamp

# The largest integer that every JSON parser represents exactly (RFC 8259, section 6).
MAX_ID = 2**53 - 1
MAX_PAGE = 500
# That of the package; a test compares them.
API_VERSION = "0.1.0"
# The most items that one request may create.
MAX_BATCH = 1_000
_Model = TypeVar("_Model", bound=BaseModel)


class ApiModel(BaseModel):
    """A model of the API. Its validator is built when a request first needs it.

    A request needs only a few of them, and building all of them takes a tenth of a cold start.
    """

    model_config = ConfigDict(alias_generator=to_camel, frozen=True, defer_build=True)


class RequestModel(ApiModel):
    """A request body. An unknown field is rejected rather than ignored, and so is a value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ResponseModel(ApiModel):
    """A response body."""

    model_config = ConfigDict(populate_by_name=True)


def with_fields(fields: Mapping[str, Any]) -> Callable[[type[_Model]], type[_Model]]:
    """Return a decorator that adds those of the fields that a model lacks; each is a tuple of its type and default."""

    def add(model: type[_Model]) -> type[_Model]:
        added = {name: field for name, field in fields.items() if name not in model.model_fields}
        if not added:
            return model
        return create_model(model.__name__, __base__=model, __doc__=model.__doc__, __module__=model.__module__, **added)

    return add


def require_printable(value: str) -> str:
    """Return the value. Raises ValueError if it contains a character that is not printable."""
    if not value.isprintable():
        raise ValueError("control characters are not allowed; remove them")
    return value


def _require_key_segment(value: str) -> str:
    if "/" in value or value in (".", ".."):
        raise ValueError("a name must not contain a slash and must not be . or ..")
    return value


TRIMMED = r"^\S(?:.*\S)?$"
RowId = Annotated[int, Field(ge=1, le=MAX_ID)]
# Surrounding spaces are rejected: they would make different names look the same.
Name = Annotated[str, Field(min_length=1, max_length=255, pattern=TRIMMED), AfterValidator(require_printable)]
TagName = Annotated[
    str, StringConstraints(min_length=1, max_length=500, pattern=TRIMMED), AfterValidator(require_printable)
]
FileName = Annotated[Name, AfterValidator(_require_key_segment)]
CreateCase = Annotated[
    bool,
    Field(
        description="false: a case that does not exist is not created; the response is 404 with `similar`, the cases "
        "whose names resemble its name."
    ),
]

# The offset Z states that the time is in UTC.
UtcTimestamp = Annotated[
    datetime,
    PlainSerializer(format_timestamp, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-21T15:00:00Z"]}),
]
NextCursor = Annotated[
    str | None, Field(description="The cursor of the next page; send it as `after`. null on the last page.")
]

PrevCursor = Annotated[
    str | None, Field(description="The cursor of the page before; send it as `before`. null on the first page.")
]
UserName = Annotated[
    str | None, Field(description="The name that the user's tokens had last; null if it is not known.")
]
Total = Annotated[
    int | None, Field(description="The number of items of the whole list; null unless the request has `count=true`.")
]


class Problem(ResponseModel):
    """An error, as a problem document of RFC 9457 (application/problem+json).

    Evaluate `type` in scripts. `title` and `detail` are for people and may change.
    """

    type: str = Field(
        description="The URN of the problem. Its last part is the problem's name, which never changes.",
        examples=[f"{PROBLEM_URN}stale-version"],
        json_schema_extra={"enum": [f"{PROBLEM_URN}{name}" for name in PROBLEM_NAMES]},
    )
    title: str = Field(description="A summary of the problem.")
    status: int = Field(ge=400, le=599, description="The HTTP status code.")
    detail: str = Field(description="What happened and what to do next.")
    errors: list[FieldProblem] | None = Field(
        default=None,
        description="The invalid parts of the request, at most 20; only with `invalid-request` and "
        "`correction-refused`.",
    )
    current_version: int | None = Field(
        default=None, description="The version that is stored now; only with `stale-version`."
    )
    conflicts: list[CustodyConflict] | None = Field(
        default=None, description="The overlapping periods; only with `overlap`."
    )
    failure_code: str | None = Field(
        default=None,
        description="The code with which an import of the file would fail, see docs/load-files.md; only with "
        "`file-refused`.",
    )
    columns: list[str] | None = Field(
        default=None,
        description="The names of the first columns of a file in which none is recognised as the id, in their order; "
        "only with `file-refused`. `columns` of the options names the id by its number.",
    )
    required_role: Role | None = Field(
        default=None, description="The role that the request requires; only with `role-required`."
    )
    findings: list[ProductionFinding] | None = Field(
        default=None, description="What blocks the production; only with `production-refused`."
    )
    similar: list[SimilarCase] | None = Field(
        default=None,
        description="Up to 5 cases with similar names; only with `not-found`, if the request has `createCase: false`.",
    )


class SimilarCase(ResponseModel):
    """A case whose name the requested one may be a misspelling of."""

    id: int
    name: str


class FieldProblem(ResponseModel):
    """An invalid part of a request."""

    location: str = Field(
        description="The part that is invalid.", examples=["body/tags/0", "query/limit", "header/If-Match"]
    )
    message: str = Field(description="The reason why it is invalid. It does not repeat the value.")


class ProductionFinding(ResponseModel):
    """What is noticed about documents of a production before their numbers are reserved."""

    code: FindingCode
    blocks: bool = Field(description="Whether the documents cannot be produced; otherwise it is a warning.")
    message: str = Field(description="What was found and what to do next.")
    count: int = Field(description="The number of exhibits.")
    exhibit_ids: list[int] = Field(description="The first 100 of them.")
    control_numbers: list[str] = Field(description="The control numbers of `exhibitIds`, without those removed since.")


class CustodyConflict(ResponseModel):
    """An overlap of a requested period with a recorded period or with another element of the same request."""

    element: int = Field(ge=0, description="The index of the requested period in the request, from 0.")
    device_id: int = Field(description="The device of both periods.")
    period_id: int | None = Field(default=None, description="The recorded period that it overlaps, if it is one.")
    other_element: int | None = Field(
        default=None, description="The element of the request that it overlaps, if it is one."
    )
    begin: UtcTimestamp = Field(description="The begin of the overlapped period.")
    end: UtcTimestamp | None = Field(
        default=None, description="The end of the overlapped period; missing if the device is still held."
    )
