"""What all requests and answers share: names in camelCase, nothing unknown accepted, pages, problems."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel

from core.contracts.problems import NAMES, PROBLEM_URN
from core.moments import written

# What every JSON reader holds exactly (RFC 8259, section 6).
MAX_ID = 2**53 - 1
MAX_PAGE = 500


class Contract(BaseModel):
    """Whatever the API takes and gives; a contract's validator is made when a request first needs it.

    No request needs more than a few, and to make them all takes a tenth of a cold start.
    """

    model_config = ConfigDict(alias_generator=to_camel, frozen=True, defer_build=True)


class Taken(Contract):
    """A request's body: a member that is not known is refused, not ignored, and a value of another type likewise."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Given(Contract):
    """An answer's body."""

    model_config = ConfigDict(populate_by_name=True)


def printable(value: str) -> str:
    """The value, unless it holds what nobody can see; raises ValueError."""
    if not value.isprintable():
        raise ValueError("control characters are not allowed")
    return value


def _one_part_of_a_key(value: str) -> str:
    if "/" in value or value in (".", ".."):
        raise ValueError("a slash is not allowed, nor the names . and .., which are taken for folders")
    return value


TRIMMED = r"^\S(?:.*\S)?$"
RowId = Annotated[int, Field(ge=1, le=MAX_ID)]
# A name as it is stored: spaces around it would make another name of what looks the same.
Name = Annotated[str, Field(min_length=1, max_length=255, pattern=TRIMMED), AfterValidator(printable)]
TagName = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=TRIMMED), AfterValidator(printable)]
FileName = Annotated[Name, AfterValidator(_one_part_of_a_key)]


# Written as in the answers of all times of ours: the offset says that it is UTC.
UtcMoment = Annotated[
    datetime,
    PlainSerializer(written, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-21T15:00:00Z"]}),
]
Next = Annotated[str | None, Field(description="Send it as `after` for the next page; null: this is the last.")]


class Problem(Given):
    """What went wrong, as RFC 9457 (application/problem+json) has it; `detail` says what to do.

    `type` ends in the problem's name: script against that, not against the texts.
    """

    type: str = Field(
        examples=[f"{PROBLEM_URN}stale-version"], json_schema_extra={"enum": [f"{PROBLEM_URN}{name}" for name in NAMES]}
    )
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    errors: list[FieldProblem] | None = Field(default=None, description="Each part of the request that is wrong.")
    current_version: int | None = Field(default=None, description="With stale-version: the version to read again.")
    conflicts: list[CustodyConflict] | None = Field(
        default=None, description="With overlap: every element of the request that overlaps, with what."
    )


class FieldProblem(Given):
    """One part of a request that is wrong: where, as `body/tags/0`, `query/limit` or `header/If-Match`, and how."""

    location: str
    message: str


class CustodyConflict(Given):
    """A period that was asked for overlaps a recorded one (`periodId`) or another element (`otherElement`).

    `begin` and `end` are of what it overlaps; without `end` the device is still held.
    """

    element: int = Field(ge=0, description="Where in the request's array it stands, from 0.")
    device_id: int
    period_id: int | None = None
    other_element: int | None = None
    begin: UtcMoment
    end: UtcMoment | None = None
