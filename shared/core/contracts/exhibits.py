"""Exhibits, custodians and taggings as the API takes and gives them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from core.contracts.common import TRIMMED, FileName, Given, Name, Next, RowId, TagName, Taken
from core.moments import FIRST_YEAR

MAX_TAGGED_EXHIBITS, MAX_TAGS, MAX_CUSTODIANS = 1_000, 50, 50
LOCAL_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("the character NUL is not allowed")
    return value


def _as_written(value: object) -> object:
    """Only the form that is documented: others would be read as something, and a date is evidence."""
    if not isinstance(value, str):
        return value
    if not re.fullmatch(LOCAL_MOMENT, value):
        raise ValueError("a date is written 2019-12-31T23:59:59, with at most six digits of a second and no offset")
    return datetime.fromisoformat(value)


def _storable_moment(value: datetime) -> datetime:
    if value.year < FIRST_YEAR:
        raise ValueError(f"years from {FIRST_YEAR} to 9999 can be stored")
    return value


Text = Annotated[str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_without_nul)]
DocumentNumber = Annotated[
    str, StringConstraints(min_length=1, max_length=255, pattern=TRIMMED), AfterValidator(_without_nul)
]
# RFC 3339 has no date without an offset; a document's date has none, and is stored as the document has it.
_WRITTEN = WithJsonSchema({"type": "string", "pattern": f"^{LOCAL_MOMENT}$", "examples": ["2019-12-31T23:59:59"]})
Moment = Annotated[datetime, BeforeValidator(_as_written), AfterValidator(_storable_moment), _WRITTEN]
DocumentDate = Annotated[datetime, _WRITTEN]


class Exhibit(Given):
    """A document of a case. `version` is what the ETag holds: it rises with every PATCH, not with links."""

    id: int
    case: str
    case_id: int
    control_number: str
    bates_begin: str | None
    bates_end: str | None
    parent_control_number: str | None
    title: str | None
    file_name: str | None
    document_date: DocumentDate | None
    native_path: str | None
    text_path: str | None
    properties: dict[str, str | None] = Field(description="What else the load file said of it.")
    custodians: list[str]
    tags: list[str]
    import_id: int
    line: int
    version: int


class ExhibitSummary(Given):
    """An exhibit in a list."""

    id: int
    control_number: str
    bates_begin: str | None
    bates_end: str | None
    title: str | None
    file_name: str | None
    document_date: DocumentDate | None
    version: int


class ExhibitPage(Given):
    """Exhibits in the order of their control numbers, compared by bytes."""

    items: list[ExhibitSummary]
    next: Next


class ExhibitChange(Taken):
    """What to change, as a JSON merge patch (RFC 7396): null empties a field, a field left out stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "The Plan", "documentDate": None}]})

    bates_begin: DocumentNumber | None = None
    bates_end: DocumentNumber | None = None
    parent_control_number: DocumentNumber | None = None
    title: Text | None = None
    file_name: Text | None = None
    document_date: Moment | None = None
    native_path: Text | None = None
    text_path: Text | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        return self


class NewCustodian(Taken):
    """Somebody who holds documents or devices of a case, by name."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"case": "Smith v. Jones", "name": "Evidence room 2"}]})

    case: FileName = Field(description="The name of the case; it is made if there is none.")
    name: Name


class Custodian(Given):
    """Somebody who held documents or devices of the case."""

    id: int
    name: str


class CustodianPage(Given):
    """Custodians in the order of their names, as the database collates them."""

    items: list[Custodian]
    next: Next


class NewCustodians(Taken):
    """Who held an exhibit; a name that the case lacks is added."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"custodians": ["Ada Lovelace"]}]})

    custodians: list[Name] = Field(min_length=1, max_length=MAX_CUSTODIANS)


class ExhibitCustodians(Given):
    """All custodians of an exhibit."""

    exhibit_id: int
    custodians: list[Custodian]


class TaggingRequest(Taken):
    """Every one of the exhibits, with every one of the tags. The exhibits must be of one case."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"exhibitIds": [17, 18], "tags": ["Hot", "Hot\\Really Hot"]}]}
    )

    exhibit_ids: list[RowId] = Field(min_length=1, max_length=MAX_TAGGED_EXHIBITS)
    tags: list[TagName] = Field(
        min_length=1, max_length=MAX_TAGS, description=r"A nested tag is named by its path: Hot\Really Hot."
    )


class TaggingsMade(Given):
    """How many of the pairs are new; the others were there and stay as they are."""

    exhibits: int
    tags: int
    created: int


class TaggingsRemoved(Given):
    """How many of the pairs were there."""

    removed: int
