"""Models of custody periods: who held a device from when to when. Times are UTC."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self
from unicodedata import category

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
    Name,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    RowId,
    UserName,
    UtcTimestamp,
)
from core.custody import to_stored_end
from core.timestamps import TIMESTAMP_PATTERN, parse_timestamp


def _parse(value: object) -> object:
    return parse_timestamp(value) if isinstance(value, str) else value


def _require_readable(value: str) -> str:
    if any(category(each) == "Cc" and each not in "\r\n\t" for each in value):
        raise ValueError("control characters other than line breaks and tabs are not allowed; remove them")
    return value


# RFC 3339, with optional seconds. The offset is required: without it, every reader would assume another time.
TimestampInput = Annotated[
    datetime,
    BeforeValidator(_parse),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": f"^{TIMESTAMP_PATTERN}$",
            "examples": ["2026-11-21T15:00:00Z", "2026-11-21T16:00:00+01:00"],
        }
    ),
]
Note = Annotated[str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(_require_readable)]
DeviceId = Annotated[RowId, Field(description="Your own number for the device. Other tenants' numbers are separate.")]
HolderId = Annotated[
    RowId | None, Field(description="The custodian who holds the device, from GET /custodians; null: not recorded.")
]


def _require_begin_before_end(begin: datetime, end: datetime | None, name: str = "begin") -> None:
    if begin >= to_stored_end(end):
        raise ValueError(f"end must be after {name}; a period includes its begin and excludes its end")


class NewPeriod(RequestModel):
    """A custody period to record. It includes `begin` and excludes `end`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"deviceId": 100, "begin": "2026-11-21T15:00:00Z", "end": "2026-11-21T17:00:00Z"}]
        }
    )

    device_id: DeviceId
    begin: TimestampInput
    end: TimestampInput | None = Field(description="null: the device is still held.")
    custodian_id: HolderId = None
    note: Note | None = None

    @model_validator(mode="after")
    def _is_a_period(self) -> Self:
        _require_begin_before_end(self.begin, self.end)
        return self


class CustodyPeriod(ResponseModel):
    """A recorded custody period."""

    id: int
    device_id: int
    begin: UtcTimestamp
    end: UtcTimestamp | None = Field(description="null: the device is still held.")
    custodian_id: int | None = Field(description="null: the custodian is not recorded.")
    custodian: str | None = Field(description="The custodian's name.")
    note: str | None
    version: int = Field(description="Rises with every change; the ETag is this number in double quotes.")


class RecordedCustodyPeriods(ResponseModel):
    """The recorded periods, in the order of the request."""

    items: list[CustodyPeriod]


class CustodyPeriodPage(ResponseModel):
    """A page of a device's periods, in chronological order."""

    items: list[CustodyPeriod]
    next: NextCursor
    prev: PrevCursor


class PeriodPatch(RequestModel):
    """A change to a period, as a JSON merge patch (RFC 7396): a missing field keeps its value."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"end": "2026-11-21T18:30:00Z"}]})

    begin: TimestampInput | None = Field(default=None, description="Must not be null: every period has a begin.")
    end: TimestampInput | None = Field(default=None, description="null: the device is still held.")
    custodian_id: HolderId = None
    note: Note | None = Field(default=None, description="null removes the note.")

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("send at least one field to change")
        if "begin" in self.model_fields_set and self.begin is None:
            raise ValueError("begin must not be null; omit it or send a timestamp")
        return self


class NewTransfer(RequestModel):
    """A transfer of a device from its holder to another custodian.

    The holder's period ends at the time `at`, and the receiver's period begins.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"deviceId": 100, "at": "2026-11-21T15:00:00Z", "custodianId": 7}]}
    )

    device_id: DeviceId
    at: TimestampInput = Field(description="The time of the transfer.")
    custodian_id: HolderId
    end: TimestampInput | None = Field(
        default=None, description="The end of the receiver's period; null: the device is still held."
    )
    note: Note | None = Field(default=None, description="The note of the receiver's period.")
    from_period_id: RowId | None = Field(
        default=None,
        description="The period that is expected to end. If another period would end, nothing is changed (409).",
    )

    @model_validator(mode="after")
    def _is_a_period(self) -> Self:
        _require_begin_before_end(self.at, self.end, "at")
        return self


class CustodyTransfer(ResponseModel):
    """The period that ended and the period that began at the time of the transfer."""

    ended: CustodyPeriod
    begun: CustodyPeriod


class CustodyAction(StrEnum):
    """The kind of a change to a period."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class CustodyChange(ResponseModel):
    """A change to a period, with the period's values after the change, or before its removal."""

    period_id: int
    version: int = Field(description="The period's version after the change; a removal counts as one more version.")
    action: CustodyAction
    user_id: str = Field(description="The user who made the change.")
    user_name: UserName
    changed_at: UtcTimestamp
    device_id: int
    begin: UtcTimestamp
    end: UtcTimestamp | None = Field(description="null: the device was still held.")
    custodian_id: int | None
    custodian: str | None = Field(description="The custodian's name, as it is now.")
    note: str | None


class CustodyChangePage(ResponseModel):
    """A page of all changes to a device's periods, oldest first. Changes are never removed."""

    items: list[CustodyChange]
    next: NextCursor
    prev: PrevCursor


class Device(ResponseModel):
    """A device, and who holds it now."""

    device_id: int = Field(description="Your own number for the device.")
    label: str | None = Field(description="What you call the device.")
    is_held: bool = Field(description="Whether a period of the device contains the present time.")
    since: UtcTimestamp | None = Field(description="The begin of this period; null unless the device is held.")
    holder_id: int | None = Field(description="The custodian of this period; null: not recorded, or not held.")
    holder: str | None = Field(description="The custodian's name.")
    periods: int = Field(description="How many periods are recorded.")
    last_change_at: UtcTimestamp | None = Field(description="When a period of the device was last changed.")


class DevicePage(ResponseModel):
    """A page of devices, in the order of your numbers."""

    items: list[Device]
    next: NextCursor


class DeviceLabel(RequestModel):
    """The label of a device."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "Ada's laptop, asset 100"}]})

    label: Name | None = Field(description="What you call the device; null removes the label.")
