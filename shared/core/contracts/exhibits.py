"""Models of exhibits, custodians and taggings."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from core.contracts.common import (
    TRIMMED,
    FileName,
    Name,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    UserName,
    UtcTimestamp,
    with_fields,
)
from core.contracts.production_numbers import ProductionNumber
from core.exhibit_fields import MAX_TEXT, TEXT_FIELDS, TEXTS
from core.exhibit_history import Action
from core.families.kinds import FamilyKind
from core.load_file.options import MAX_COLUMNS
from core.timestamps import FIRST_YEAR

MAX_CUSTODIANS = 50
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
LOCAL_TIMESTAMP = DAY + r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"


def _reject_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("the NUL character is not allowed; remove it")
    return value


def _require_text(value: str) -> str:
    """Return the value. Raises ValueError for half of a surrogate pair, which no character set can store."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("half of a surrogate pair is not allowed; remove it")
    return value


def _parse(value: object) -> object:
    """Parse only the documented format: a lenient parser could read another date, and a date is evidence."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(DAY, value):
        return date.fromisoformat(value)
    if not re.fullmatch(LOCAL_TIMESTAMP, value):
        raise ValueError(
            "send a day such as 2019-12-31, or a time such as 2019-12-31T23:59:59, with at most six fractional digits "
            "and no offset"
        )
    return datetime.fromisoformat(value)


def _require_storable(value: datetime | date) -> datetime | date:
    if value.year < FIRST_YEAR:
        raise ValueError(f"send a date between the years {FIRST_YEAR} and 9999")
    return value


Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT), AfterValidator(_reject_nul)]
DocumentNumber = Annotated[
    str, StringConstraints(min_length=1, max_length=255, pattern=TRIMMED), AfterValidator(_reject_nul)
]
PropertyKey = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_require_text)]
PropertyText = Annotated[str, AfterValidator(_require_text)]
# Not an RFC 3339 date-time, which has an offset: the date of a document has none, and is stored as it is.
_JSON_SCHEMA = WithJsonSchema(
    {"type": "string", "pattern": f"^{LOCAL_TIMESTAMP}$", "examples": ["2019-12-31T23:59:59"]}
)
_INPUT_SCHEMA = WithJsonSchema(
    {
        "type": "string",
        "pattern": f"^({DAY}|{LOCAL_TIMESTAMP})$",
        "description": "A day, or a time without a zone; `datePrecision` keeps which of them was sent.",
        "examples": ["2019-12-31", "2019-12-31T23:59:59"],
    }
)
DocumentDateInput = Annotated[
    datetime | date, BeforeValidator(_parse), AfterValidator(_require_storable), _INPUT_SCHEMA
]
DocumentDate = Annotated[datetime, _JSON_SCHEMA]
VERSION = (
    "Rises by one with every change of the exhibit, its custodians or its tags, and with every request to add "
    "custodians or tags, even if the exhibit has them; the ETag is this number in double quotes."
)


PARENT = "The parent document of an attachment, stated for the exhibit itself or found from what rows state."
_STATED_BY = (
    "How the parent is stated: `parent` for the exhibit itself; by a column of a load file, `begin` with the first "
    "number of the family, `range` with its numbers, `group` with an identifier of the family, `members` with the "
    "attachments of a document; null without a parent."
)


@with_fields({each.name: (str | None, Field(description=f"{each.description}.")) for each in TEXT_FIELDS})
class Exhibit(ResponseModel):
    """A document of a case."""

    id: int
    case: str = Field(description="The name of the case.")
    case_id: int
    control_number: str = Field(description="The document's id in its load file; unique in the case.")
    bates_begin: str | None
    bates_end: str | None
    parent_control_number: str | None = Field(description=PARENT)
    parent_stated_by: FamilyKind | None = Field(description=_STATED_BY)
    title: str | None
    file_name: str | None
    document_date: DocumentDate | None = Field(
        description="The date of the document; `datePrecision` says whether it is a day, and whether its time is UTC."
    )
    document_date_source: str | None = Field(
        description="The field that the document date was taken from, such as date_sent; null if it is a date of its "
        "own, or was stored by an earlier version."
    )
    date_sent: DocumentDate | None
    date_received: DocumentDate | None
    date_created: DocumentDate | None
    date_modified: DocumentDate | None
    date_precision: dict[str, str] = Field(
        description="How precise a date is, by field in snake_case: `day`, `time` as written in an unknown zone, or "
        "`utc_time`. Dates that an earlier version stored are missing.",
        examples=[{"document_date": "day"}],
    )
    native_path: str | None
    text_path: str | None
    properties: dict[str, str | None] = Field(description="The other columns of the load file.")
    custodians: list[str] = Field(description="The names of the exhibit's custodians.")
    tags: list[str] = Field(description="The names of the exhibit's tags.")
    page_count: int = Field(description="How many pages `GET /exhibits/{exhibitId}/pages` lists; 0: no images.")
    production_numbers: list[ProductionNumber] = Field(
        description="The other ranges of Bates numbers that the exhibit was delivered under, at most 1,000, besides "
        "`batesBegin` and `batesEnd`, and each source of these and of them. A range without an import or a production "
        "was set by a user before an overlay replaced it."
    )
    has_extracted_text: bool = Field(
        description="Whether cells of a load file have a text of the exhibit, which "
        "`GET /exhibits/{exhibitId}/text` returns. With a `textPath`, the file is the text that is produced."
    )
    import_id: int = Field(description="The import that created the exhibit.")
    line: int = Field(description="The exhibit's line in the load file.")
    version: int = Field(description=VERSION)


class ImagePage(ResponseModel):
    """A page of an exhibit: an image file, or a page of one."""

    page: int = Field(description="The number of the page within the exhibit, from 1.")
    image_key: str = Field(description="The image key in the image load file, which is often a Bates number.")
    volume_id: int | None = Field(description="The volume that has the image; null if it is not in a volume.")
    file: str | None = Field(description="The path of the image in its volume; null if the volume lacks it.")
    path: str | None = Field(description="The path as the image load file has it; null if `file` is known.")
    page_in_file: int = Field(description="The page within the file, from 1; 0: the file is this page.")
    rotation: int = Field(description="How far the page is turned clockwise, in degrees: 0, 90, 180 or 270.")
    import_id: int = Field(description="The import of the image load file.")


class ImagePageList(ResponseModel):
    """A page of the list of an exhibit's pages; all are of one import."""

    items: list[ImagePage]
    next: NextCursor
    prev: PrevCursor


_TextChange = Annotated[dict[Literal["old", "new"], str | None], Field(examples=[{"old": "Plan", "new": None}])]
_LinkChange = Annotated[dict[Literal["old", "new"], bool], Field(examples=[{"old": False, "new": True}])]


class ExhibitHistoryEntry(ResponseModel):
    """A change of an exhibit, with the values before and after it.

    Both are equal if a request set what was already stored.
    """

    version: int = Field(description="The version of the exhibit after the change.")
    action: Action
    user_id: str | None = Field(description="The user who made the change; null if it is not known.")
    user_name: UserName
    changed_at: UtcTimestamp | None = Field(description="When the change was made; null if it is not known.")
    import_id: int | None = Field(
        description="The import that created or overlaid the exhibit, or whose undo changed it; null if a request did."
    )
    line: int | None = Field(description="The line of the import's load file; null if no line made the change.")
    undo_no: int | None = Field(description="Which undo of the import made the change, from 1; null if no undo did.")
    tagging_job_id: int | None = Field(description="The tagging job that made the change; null if none did.")
    fields: dict[str, _TextChange] = Field(
        description="Changed fields, by name in snake_case. A date is written as 2019-12-31 23:59:59.000000; its "
        "precision, such as document_date_precision, is D (day), T (time), U (time in UTC) or null."
    )
    properties: dict[str, _TextChange] = Field(
        description="Changed properties, by name. `old` or `new` is missing if the exhibit did not have the property."
    )
    custodians: dict[str, _LinkChange] = Field(description="Custodians, by name: whether the exhibit had them.")
    tags: dict[str, _LinkChange] = Field(description="Tags, by name: whether the exhibit had them.")


class ExhibitHistoryPage(ResponseModel):
    """A page of the changes of an exhibit, newest first; the last one is its creation. Changes are never removed."""

    items: list[ExhibitHistoryEntry]
    next: NextCursor
    prev: PrevCursor


@with_fields(dict.fromkeys(TEXTS, (Text | None, None)))
class ExhibitChange(RequestModel):
    """A change to an exhibit, as a JSON merge patch (RFC 7396).

    null empties a field; a missing field keeps its value.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "The Plan", "documentDate": None}]})

    bates_begin: DocumentNumber | None = None
    bates_end: DocumentNumber | None = None
    parent_control_number: DocumentNumber | None = None
    title: Text | None = None
    file_name: Text | None = None
    document_date: DocumentDateInput | None = None
    date_sent: DocumentDateInput | None = None
    date_received: DocumentDateInput | None = None
    date_created: DocumentDateInput | None = None
    date_modified: DocumentDateInput | None = None
    native_path: Text | None = None
    text_path: Text | None = None
    properties: dict[PropertyKey, PropertyText | None] = Field(
        default_factory=dict,
        max_length=MAX_COLUMNS,
        description="Properties to add or change; null removes one. The others stay.",
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set or (self.model_fields_set == {"properties"} and not self.properties):
            raise ValueError("send at least one field or property to change")
        return self


class NewCustodian(RequestModel):
    """A custodian of a case: a person or a place that holds documents or devices."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"case": "Smith v. Jones", "name": "Evidence room 2"}]})

    case: FileName = Field(description="The name of the case, which is created if it does not exist.")
    name: Name


class Custodian(ResponseModel):
    """A custodian of a case."""

    id: int
    name: str


class NewCustodians(RequestModel):
    """Custodians to link to an exhibit. A custodian that the case does not have is created."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"custodians": ["Ada Lovelace"]}]})

    custodians: list[Name] = Field(min_length=1, max_length=MAX_CUSTODIANS, description="The custodians' names.")


class RemovedCustodians(RequestModel):
    """Custodians to remove from an exhibit. They stay custodians of the case."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"custodians": ["Ada Lovelace"]}]})

    custodians: list[Name] = Field(min_length=1, max_length=MAX_CUSTODIANS, description="The custodians' names.")


class ExhibitCustodians(ResponseModel):
    """All custodians of an exhibit."""

    exhibit_id: int
    custodians: list[Custodian]
