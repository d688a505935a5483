"""Query parameters of the lists."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from core.caller import MAX_USER_CHARACTERS
from core.contracts.common import MAX_ID, ApiModel
from core.contracts.pages import (
    AnyCaseQuery,
    Boolean,
    CountedQuery,
    ListQuery,
    NewestFirst,
    OneCaseQuery,
    PageQuery,
    require_digits,
    require_few_words,
)
from core.load_file.options import MAX_COLUMNS, MAX_HEADER_LINE
from core.statuses import ImportStatus
from core.timestamps import parse_timestamp

MAX_USERS = 100
_SEARCH = "Only {} with all of these words, in any order and also as parts of words; case and accents do not matter."


def _parse(value: object) -> object:
    return parse_timestamp(value) if isinstance(value, str) else value


def _require_users(value: str) -> str:
    ids = value.split(",")
    if len(ids) > MAX_USERS or not all(0 < len(each) <= MAX_USER_CHARACTERS for each in ids):
        raise ValueError(f"send 1 to {MAX_USERS} ids of users, with commas between them")
    return value


Words = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(require_few_words)]


class FilesQuery(PageQuery):
    """The page of the list of an exhibit's files, and how their URLs respond."""

    from_page: Annotated[int, BeforeValidator(require_digits)] | None = Field(
        default=None,
        ge=1,
        le=2**31,
        description="Only pages of the exhibit, from this one on, without native and text; instead of `after`.",
    )
    download: Boolean = Field(
        default=False, description="Whether a browser saves every file instead of showing some types of them."
    )

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if self.after is not None and self.from_page is not None:
            raise ValueError("send after or fromPage, not both")
        return self


class TextQuery(ApiModel):
    """The part of a text."""

    start: Annotated[int, BeforeValidator(require_digits)] = Field(
        default=0, ge=0, le=2**31, description="Where the part begins, in bytes: `nextStart` of the part before."
    )


class ImportQuery(AnyCaseQuery, NewestFirst, CountedQuery):
    """The filters of the list of imports."""

    status: ImportStatus | None = Field(default=None, description="Only imports with this status.")
    ids: str | None = Field(
        default=None,
        pattern="^[1-9][0-9]{0,15}(,[1-9][0-9]{0,15}){0,99}$",
        description="Only imports with these ids, at most 100, as in `7,8`; those that do not exist are left out.",
    )


class CodeQuery(PageQuery):
    """The filters of the rejections and warnings of an import."""

    code: str | None = Field(default=None, min_length=1, max_length=64, description="Only those of this code.")
    column: str | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        description="Only those of the column with exactly this name, as `GET /imports/{id}/codes` returns it.",
    )


class VolumeQuery(AnyCaseQuery, NewestFirst, CountedQuery):
    """The filter of the list of volumes."""


class UploadQuery(ApiModel):
    """The file of a volume."""

    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=1_024,
        description="The path of a declared file within the volume; omit it for the zip of a volume.",
    )


class FindingQuery(PageQuery):
    """The filter of the findings of a check."""

    code: str | None = Field(default=None, min_length=1, max_length=32, description="Only findings of this code.")


class RejectionQuery(CodeQuery):
    """The filters of the rejections of an import."""

    is_open: Literal["true"] | None = Field(
        default=None, alias="open", description="true: only of rows that are neither corrected nor discarded."
    )


class RejectedRowQuery(PageQuery):
    """The filters of the rejected rows of an import."""

    code: str | None = Field(
        default=None, min_length=1, max_length=64, description="Only rows with an error of this code."
    )
    is_open: Literal["true", "false"] | None = Field(
        default=None,
        alias="open",
        description="true: only rows that are neither corrected nor discarded; false: only the others.",
    )


class CasesQuery(CountedQuery):
    """The filters and the order of the list of cases."""

    prefix: str | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        description="Only cases whose name begins with this text, compared character by character.",
    )
    search: Words | None = Field(default=None, description=_SEARCH.format("names of cases"))
    sort: Literal["name", "-lastImportAt"] = Field(
        default="name",
        description="By name, in byte order; or the case with the last import first, cases without imports last. "
        "`order=desc` reverses either.",
    )


class SimilarQuery(ApiModel):
    """The name that is compared with those of the cases."""

    name: str = Field(min_length=1, max_length=255, description="The name to look for.")


class UsersQuery(ApiModel):
    """The users to name."""

    ids: Annotated[str, AfterValidator(_require_users)] = Field(
        min_length=1,
        max_length=MAX_USERS * (MAX_USER_CHARACTERS + 1),
        description=f"The ids of up to {MAX_USERS} users, with commas between them.",
    )


class ProfileQuery(CountedQuery):
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


class NamesQuery(OneCaseQuery, CountedQuery):
    """The filters of the list of a case's tags."""

    search: Words | None = Field(default=None, description=_SEARCH.format("names"))


class CustodiansQuery(AnyCaseQuery, CountedQuery):
    """The filters of the list of custodians, of a case or of all cases."""

    search: Words | None = Field(default=None, description=_SEARCH.format("names") + " Required without a case.")

    @model_validator(mode="after")
    def _is_narrow(self) -> Self:
        if self.case is None and self.case_id is None and self.search is None:
            raise ValueError("send case or caseId; for custodians of all cases, send search")
        return self


def _bound(alias: str, description: str) -> Any:
    schema: dict[str, Any] = {"type": "string", "format": "date-time"}
    return Field(default=None, alias=alias, description=description, json_schema_extra=schema)


class ProductionQuery(AnyCaseQuery, NewestFirst, CountedQuery):
    """The filters of the list of productions."""


class ExportQuery(AnyCaseQuery, NewestFirst, CountedQuery):
    """The filters of the list of exports."""


class TaggingJobQuery(AnyCaseQuery, NewestFirst, CountedQuery):
    """The filter of the list of tagging jobs."""


class DevicesQuery(PageQuery):
    """The filter of the list of devices."""

    search: Words | None = Field(
        default=None,
        description="Words, each of which is part of the label, or the beginning of the number of the device.",
    )


class ActivityQuery(AnyCaseQuery):
    """The filters of the list of activities. All given conditions must hold."""

    user: str | None = Field(default=None, min_length=1, max_length=255, description="Only what this user did.")
    object: str | None = Field(
        default=None,
        pattern=r"^[a-z_]{1,32}:[1-9][0-9]{0,15}$",
        description="Only what was done to one object: its type and id, such as `import:7`.",
    )
    action: str | None = Field(
        default=None, min_length=1, max_length=64, description="Only this action, such as `import.run`."
    )
    begin: Annotated[datetime | None, BeforeValidator(_parse)] = _bound(
        "from", "Only what was done at this time or later."
    )


class DeviceQuery(ListQuery):
    """The device of a list."""

    device_id: Annotated[int, BeforeValidator(require_digits)] = Field(
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
