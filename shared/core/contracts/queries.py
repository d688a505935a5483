"""Query parameters of the lists."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema, model_validator

from core.bates_numbers import parse_bates_number
from core.contracts.common import MAX_ID, MAX_PAGE, ApiModel, with_fields
from core.exhibit_fields import FILTERED_TEXTS, Filter, TextField
from core.load_file.options import MAX_COLUMNS, MAX_HEADER_LINE
from core.statuses import ImportStatus
from core.timestamps import FIRST_YEAR, LAST_YEAR, parse_timestamp

MAX_TITLE_WORDS = 10


def _require_digits(value: object) -> object:
    """Return the value. Raises ValueError for text such as `1_0` or ` 10 `, which Python reads as ten."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise ValueError("send a number that consists of digits only")
    return value


def _parse(value: object) -> object:
    return parse_timestamp(value) if isinstance(value, str) else value


def _parse_day(value: object) -> object:
    """Return the day. Raises ValueError for a text in another form than 2019-12-31."""
    if not isinstance(value, str):
        return value
    try:
        day = date.fromisoformat(value) if len(value) == 10 else None
    except ValueError:
        day = None
    if day is None or not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"send a day such as 2019-12-31, between the years {FIRST_YEAR} and {LAST_YEAR}")
    return day


def _parse_boolean(value: object) -> object:
    """Return the value. Raises ValueError for `yes`, `1` and others, of which there are too many to document."""
    if isinstance(value, str) and value not in ("true", "false"):
        raise ValueError("send true or false")
    return value


def _require_bates_number(value: str) -> str:
    parse_bates_number(value)
    return value


def _require_few_words(value: str) -> str:
    if not 1 <= len(value.split()) <= MAX_TITLE_WORDS:
        raise ValueError(f"send 1 to {MAX_TITLE_WORDS} words")
    return value


_Id = Annotated[int, BeforeValidator(_require_digits), Field(ge=1, le=MAX_ID)]
_Day = Annotated[date, BeforeValidator(_parse_day), WithJsonSchema({"type": "string", "format": "date"})]
_Boolean = Annotated[bool, BeforeValidator(_parse_boolean)]
_Words = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_require_few_words)]
_Whole = Annotated[str, StringConstraints(min_length=1, max_length=255)]
_Bates = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_require_bates_number)]


class PageQuery(ApiModel):
    """The page of a list."""

    limit: Annotated[int, BeforeValidator(_require_digits)] = Field(
        default=100, ge=1, le=MAX_PAGE, description="The maximum number of items on the page."
    )
    after: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="The value of `next` from the previous page; omit it for the first page.",
    )


class TextQuery(ApiModel):
    """The part of a text."""

    start: Annotated[int, BeforeValidator(_require_digits)] = Field(
        default=0, ge=0, le=2**31, description="Where the part begins, in bytes: `nextStart` of the part before."
    )


class ImportQuery(PageQuery):
    """The filters of the list of imports."""

    case: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only imports of the case with this name."
    )
    status: ImportStatus | None = Field(default=None, description="Only imports with this status.")


class VolumeQuery(PageQuery):
    """The filter of the list of volumes."""

    case: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only volumes of the case with this name."
    )


class FindingQuery(PageQuery):
    """The filter of the findings of a check."""

    code: str | None = Field(default=None, min_length=1, max_length=32, description="Only findings of this code.")


class CasesQuery(PageQuery):
    """The filter of the list of cases."""

    prefix: str | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        description="Only cases whose name begins with this text, compared character by character.",
    )


class ProfileQuery(PageQuery):
    """The filters of the list of mapping profiles."""

    name: str | None = Field(default=None, min_length=1, max_length=255, description="Only the profile with this name.")
    header_fingerprint: str | None = Field(
        default=None, pattern="^[0-9a-f]{64}$", description="Only profiles for files with this delimiter and header."
    )


class PreviewQuery(ApiModel):
    """The options of a preview, instead of those of the import."""

    encoding: str | None = Field(default=None, max_length=32)
    delimiter: str | None = Field(default=None, min_length=1, max_length=16)
    qualifier: str | None = Field(default=None, min_length=1, max_length=16)
    newline: str | None = Field(default=None, min_length=1, max_length=16)
    header: Literal["true", "false"] | None = None
    header_line: Annotated[int | None, BeforeValidator(_require_digits)] = Field(default=None, ge=1, le=MAX_HEADER_LINE)
    cells: Annotated[int | None, BeforeValidator(_require_digits)] = Field(default=None, ge=1, le=MAX_COLUMNS)
    line_ends: Literal["cr", "lf"] | None = None
    date_order: Literal["DMY", "MDY"] | None = None
    time_zone: str | None = Field(default=None, min_length=1, max_length=64)
    date_format: str | None = Field(
        default=None, max_length=1_000, description="The option `dateFormat`, a JSON object as text."
    )
    multi_value_separator: str | None = Field(default=None, min_length=1, max_length=16)
    nested_separator: str | None = Field(default=None, min_length=1, max_length=16)
    columns: str | None = Field(
        default=None, max_length=8_000, description="The option `columns`, a JSON object as text."
    )
    profile: str | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        description="The name of a mapping profile: the file is read as if it had been announced with this profile and "
        "these options alone.",
    )


class CaseQuery(PageQuery):
    """The case of a list."""

    case: str = Field(min_length=1, max_length=255, description="The name of the case.")


def _describe_filter(text: TextField) -> tuple[Any, Any]:
    name = text.name.replace("_", " ")
    if text.filter is Filter.WORDS:
        description = f"Words that the {name} contains, all of them, in any order and also as a part of other words."
        return _Words | None, Field(default=None, description=description)
    description = f"Only exhibits with this {name}; the database decides which texts are equal."
    return _Whole | None, Field(default=None, description=description)


@with_fields({text.name: _describe_filter(text) for text in FILTERED_TEXTS})
class ExhibitQuery(CaseQuery):
    """The filters of the list of exhibits. All given conditions must hold."""

    custodian: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only exhibits of this custodian."
    )
    tag: str | None = Field(default=None, min_length=1, max_length=500, description="Only exhibits with this tag.")
    control_number: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only the exhibit with this control number."
    )
    import_id: _Id | None = Field(default=None, description="Only exhibits that this import created.")
    date_from: _Day | None = Field(default=None, description="Only exhibits with a date on this day (UTC) or later.")
    date_to: _Day | None = Field(default=None, description="Only exhibits with a date on this day (UTC) or earlier.")
    bates_from: _Bates | None = Field(
        default=None,
        description="Only exhibits with a Bates range, their own or another that they were delivered under, that has "
        "this prefix and reaches this number; zeros do not matter.",
    )
    bates_to: _Bates | None = Field(
        default=None,
        description="Only exhibits with such a range that has this prefix and begins at this number or a lower one.",
    )
    has_native: _Boolean | None = Field(
        default=None,
        description="Whether the exhibit has a native: the path of one and, if a volume was to have it, the file.",
    )
    has_text: _Boolean | None = Field(
        default=None, description="Whether the exhibit has a text, likewise, or in cells."
    )

    @model_validator(mode="after")
    def _has_ranges(self) -> Self:
        check_ranges(self)
        return self


def _bound(alias: str, description: str) -> Any:
    schema: dict[str, Any] = {"type": "string", "format": "date-time"}
    return Field(default=None, alias=alias, description=description, json_schema_extra=schema)


def check_ranges(query: Any) -> None:
    """Raise ValueError if a range of the filters of exhibits ends before it begins."""
    if query.date_from and query.date_to and query.date_from > query.date_to:
        raise ValueError("dateTo must not be before dateFrom")
    if query.bates_from and query.bates_to:
        first, last = parse_bates_number(query.bates_from), parse_bates_number(query.bates_to)
        if first.prefix != last.prefix or first.number > last.number:
            raise ValueError("batesTo must have the prefix of batesFrom and not be below it")


class ProductionQuery(PageQuery):
    """The filters of the list of productions."""

    case: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only productions of the case with this name."
    )


class DevicesQuery(PageQuery):
    """The filter of the list of devices."""

    search: _Words | None = Field(
        default=None,
        description="Words, each of which is part of the label, or the beginning of the number of the device.",
    )


class ActivityQuery(PageQuery):
    """The filters of the list of activities. All given conditions must hold."""

    case: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only activities in the case with this name."
    )
    case_id: _Id | None = Field(default=None, description="Only activities in the case with this id.")
    user: str | None = Field(default=None, min_length=1, max_length=255, description="Only what this user did.")
    object: str | None = Field(
        default=None,
        pattern=r"^[a-z]{1,32}:[1-9][0-9]{0,15}$",
        description="Only what was done to one object: its type and id, such as `import:7`.",
    )
    action: str | None = Field(
        default=None, min_length=1, max_length=64, description="Only this action, such as `import.run`."
    )
    begin: Annotated[datetime | None, BeforeValidator(_parse)] = _bound(
        "from", "Only what was done at this time or later."
    )


class DeviceQuery(PageQuery):
    """The device of a list."""

    device_id: Annotated[int, BeforeValidator(_require_digits)] = Field(
        ge=1, le=MAX_ID, description="Your own number for the device."
    )


class PeriodQuery(DeviceQuery):
    """The filters of the list of custody periods: periods of a device that overlap `[from, to)`."""

    begin: Annotated[datetime | None, BeforeValidator(_parse)] = _bound(
        "from", "Only periods that end after this time."
    )
    end: Annotated[datetime | None, BeforeValidator(_parse)] = _bound("to", "Only periods that begin before this time.")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise ValueError("to must be after from")
        return self
