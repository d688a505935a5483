"""Query parameters of the lists."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from core.contracts.common import MAX_ID, MAX_PAGE, ApiModel
from core.load_file.options import MAX_COLUMNS, MAX_HEADER_LINE
from core.statuses import ImportStatus
from core.timestamps import parse_timestamp


def require_digits(value: object) -> object:
    """Return the value. Raises ValueError for text such as `1_0` or ` 10 `, which Python reads as ten."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise ValueError("send a number that consists of digits only")
    return value


def _parse(value: object) -> object:
    return parse_timestamp(value) if isinstance(value, str) else value


class PageQuery(ApiModel):
    """The page of a list."""

    limit: Annotated[int, BeforeValidator(require_digits)] = Field(
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

    start: Annotated[int, BeforeValidator(require_digits)] = Field(
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
    header_line: Annotated[int | None, BeforeValidator(require_digits)] = Field(default=None, ge=1, le=MAX_HEADER_LINE)
    cells: Annotated[int | None, BeforeValidator(require_digits)] = Field(default=None, ge=1, le=MAX_COLUMNS)
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


class ProductionQuery(PageQuery):
    """The filters of the list of productions."""

    case: str | None = Field(
        default=None, min_length=1, max_length=255, description="Only productions of the case with this name."
    )


class DeviceQuery(PageQuery):
    """The device of a list."""

    device_id: Annotated[int, BeforeValidator(require_digits)] = Field(
        ge=1, le=MAX_ID, description="Your own number for the device."
    )


def _bound(alias: str, description: str) -> Any:
    schema: dict[str, Any] = {"type": "string", "format": "date-time"}
    return Field(default=None, alias=alias, description=description, json_schema_extra=schema)


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
