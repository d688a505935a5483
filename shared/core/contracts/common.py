"""What all requests and answers share: names in camelCase, nothing unknown accepted, pages, problems."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel

from core.contracts.problems import NAMES, PROBLEM_URN
from core.errors import ForbiddenError
from core.moments import written

MAX_TENANT_CHARACTERS, MAX_USER_CHARACTERS = 64, 255
# What every JSON reader holds exactly (RFC 8259, section 6).
MAX_ID = 2**53 - 1
MAX_PAGE = 500


class Taken(BaseModel):
    """A request's body: a member that is not known is refused, not ignored, and a value of another type likewise."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)


class Given(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


def printable(value: str) -> str:
    """The value, unless it holds what nobody can see; raises ValueError."""
    if not value.isprintable():
        raise ValueError("control characters are not allowed")
    return value


RowId = Annotated[int, Field(ge=1, le=MAX_ID)]
# A name as it is stored: spaces around it would make another name of what looks the same.
Name = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^\S(?:.*\S)?$"), AfterValidator(printable)]


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


class Caller(BaseModel):
    """On whose behalf a request is made; from the token alone, never from the request."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    user_id: str

    @classmethod
    def of_claims(cls, claims: dict[str, Any], tenant_claim: str) -> Caller:
        """The caller of a checked token.

        Raises ForbiddenError where tenant or user are missing, or are not what a key in S3 and a column can hold.
        """
        tenant, user = claims.get(tenant_claim), claims.get("sub")
        if not (_is_name(tenant, MAX_TENANT_CHARACTERS) and _is_name(user, MAX_USER_CHARACTERS)):
            raise ForbiddenError()
        return cls(tenant_id=str(tenant), user_id=str(user))


def _is_name(value: object, most: int) -> bool:
    """Without what would end a part of an S3 key, or not be compared by the database."""
    good = isinstance(value, str) and 0 < len(value) <= most and value.isprintable()
    # API Gateway hands on lists and objects as text in brackets, in which other values look the same.
    return good and value == str(value).strip() and "/" not in str(value) and not str(value).startswith(("[", "{"))
