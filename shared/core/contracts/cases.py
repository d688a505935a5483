"""Models of cases, and of the names that belong to them: their custodians and tags."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from core.contracts.common import (
    FileName,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    Total,
    UtcTimestamp,
    require_printable,
)
from core.statuses import CaseStatus

Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000), AfterValidator(require_printable)
]


def _parse_day(value: object) -> object:
    """Return the day of a text as the OpenAPI document has it; a strict model takes no text for a day."""
    if not isinstance(value, str):
        return value
    if len(value) != len("2027-01-31"):
        raise ValueError("send a day such as 2027-01-31")
    return date.fromisoformat(value)


Day = Annotated[date, BeforeValidator(_parse_day)]


class NewCase(RequestModel):
    """A case to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Smith v. Jones"}]})

    name: FileName = Field(description="The name of the case; the tenant has no case with it yet.")


class Case(ResponseModel):
    """A legal matter of the tenant."""

    id: int
    name: str
    created_at: UtcTimestamp


class CaseHold(ResponseModel):
    """A legal hold of a case."""

    reason: str
    held_by: str = Field(description="The id of the user who placed it.")
    held_at: UtcTimestamp


class CasePurge(ResponseModel):
    """A requested purge of a case."""

    after: date = Field(description="The first day (UTC) on which it may begin.")
    requested_by: str = Field(description="The id of the user who requested it.")
    requested_at: UtcTimestamp


class NewHold(RequestModel):
    """A legal hold to place."""

    reason: Reason = Field(description="Why nothing of the case may be removed, such as the order of a court.")


class CaseChange(RequestModel):
    """A change to a case, as a JSON merge patch (RFC 7396): a missing field keeps its value."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"hold": {"reason": "Order of 2 March 2026"}}]})

    name: FileName | None = Field(
        default=None,
        description="Must not be null. The former name stays the case's own until it is purged: late uploads under it "
        "find the case.",
    )
    status: Literal["open", "closed"] | None = Field(
        default=None, description="Must not be null. Work that has begun goes on to its end in a closed case."
    )
    hold: NewHold | None = Field(default=None, description="null lifts the hold.")

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("send at least one field to change")
        for name in ("name", "status"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} must not be null")
        return self


class PurgeRequest(RequestModel):
    """A purge of a case to request: everything of it is deleted for good."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"confirm": "Smith v. Jones", "after": "2027-01-31"}]})

    confirm: FileName = Field(description="The name of the case, exactly as it is stored.")
    after: Day | None = Field(
        default=None, description="The first day (UTC) on which the purge may begin; today by default."
    )


class CaseSummary(Case):
    """A case in a list, with the numbers of its documents and imports."""

    imports: int = Field(description="The number of its imports, whatever their status, and of its checks.")
    documents: int = Field(description="The number of its documents, which imports create and undos remove.")
    open_rejections: int = Field(
        description="The rejected rows that are neither corrected nor discarded: the sum of those of its imports."
    )
    last_import_at: UtcTimestamp | None = Field(description="When its last import was created or last retried.")

    status: CaseStatus = Field(
        description="A closed case takes no changes and no new work until it is reopened; one that is purging or "
        "purged never does again."
    )
    hold: CaseHold | None = Field(description="The legal hold; null without one. Nothing of a held case is removed.")
    purge: CasePurge | None = Field(description="The requested purge; null without one. The case is closed until then.")
    version: int = Field(description="Rises with every change; the ETag of the case is this number in double quotes.")


class CasePage(ResponseModel):
    """A page of cases, in the byte order of their names or by their last imports."""

    items: list[CaseSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None


class SimilarCases(ResponseModel):
    """The case with a name, and those whose names it may be a misspelling of, the most similar first."""

    exact: CaseSummary | None = Field(description="The case with exactly this name, compared character by character.")
    similar: list[CaseSummary] = Field(description="Up to 5 other cases.")


class TagSummary(ResponseModel):
    """A tag of a case."""

    id: int
    name: str = Field(description="The name; of a nested tag, its full path.")
    documents: int = Field(description="The number of documents that have the tag.")


class TagPage(ResponseModel):
    """A page of tags, in the order of their names according to the database's collation."""

    items: list[TagSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None


class CustodianSummary(ResponseModel):
    """A custodian, and the case that it belongs to."""

    id: int
    name: str
    case_id: int
    case: str = Field(description="The name of the case.")
    documents: int = Field(description="The number of documents that the custodian held.")


class CustodianPage(ResponseModel):
    """A page of custodians, in the order of their names according to the database's collation."""

    items: list[CustodianSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None
