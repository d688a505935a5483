"""Periods of custody as the API takes and gives them: who held a device from when to when; times are UTC."""

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

from core.contracts.common import Given, Next, RowId, Taken, UtcMoment
from core.custody import kept_end
from core.moments import MOMENT, parse_moment

MAX_PERIODS = 1_000


def _as_written(value: object) -> object:
    return parse_moment(value) if isinstance(value, str) else value


def _readable(value: str) -> str:
    if any(category(each) == "Cc" and each not in "\r\n\t" for each in value):
        raise ValueError("control characters other than line ends and tabs are not allowed")
    return value


# RFC 3339 with minutes alone allowed; a time without an offset would be another moment for every reader.
Moment = Annotated[
    datetime,
    BeforeValidator(_as_written),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{MOMENT}$", "examples": ["2026-11-21T15:00:00Z", "2026-11-21T16:00:00+01:00"]}
    ),
]
Note = Annotated[str, StringConstraints(min_length=1, max_length=1_000), AfterValidator(_readable)]
DeviceId = Annotated[RowId, Field(description="Your own number of the device; another tenant's is another.")]
HolderId = Annotated[RowId | None, Field(description="Who holds it, as GET /custodians gives it; null: not recorded.")]


def _begins_before_it_ends(begin: datetime, end: datetime | None, name: str = "begin") -> None:
    if begin >= kept_end(end):
        raise ValueError(f"end must be after {name}: a period holds its begin and not its end")


class NewPeriod(Taken):
    """A custodian holds a device from `begin` until just before `end`; null: still."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"deviceId": 100, "begin": "2026-11-21T15:00:00Z", "end": "2026-11-21T17:00:00Z"}]
        }
    )

    device_id: DeviceId
    begin: Moment
    end: Moment | None
    custodian_id: HolderId = None
    note: Note | None = None

    @model_validator(mode="after")
    def _is_a_period(self) -> Self:
        _begins_before_it_ends(self.begin, self.end)
        return self


class CustodyPeriod(Given):
    """A recorded period. `version` is what the ETag holds: it rises with every change."""

    id: int
    device_id: int
    begin: UtcMoment
    end: UtcMoment | None = Field(description="null: still held.")
    custodian_id: int | None
    custodian: str | None
    note: str | None
    version: int


class CustodyPeriods(Given):
    """What was recorded, in the order of the request."""

    items: list[CustodyPeriod]


class CustodyPeriodPage(Given):
    """A device's periods in their order."""

    items: list[CustodyPeriod]
    next: Next


class Revision(Taken):
    """What to change of a period, as a JSON merge patch (RFC 7396): what is left out stays; `end` null: still held."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"end": "2026-11-21T18:30:00Z"}]})

    begin: Moment | None = Field(default=None, description="Never null: a period has a begin.")
    end: Moment | None = None
    custodian_id: HolderId = None
    note: Note | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one member to change")
        if "begin" in self.model_fields_set and self.begin is None:
            raise ValueError("begin cannot be null; leave it out, or send a moment")
        return self


class NewTransfer(Taken):
    """A device goes from whoever holds it `at` that moment to another custodian."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"deviceId": 100, "at": "2026-11-21T15:00:00Z", "custodianId": 7}]}
    )

    device_id: DeviceId
    at: Moment
    custodian_id: HolderId
    end: Moment | None = Field(default=None, description="Until when the receiver holds it; null: still.")
    note: Note | None = Field(default=None, description="Of the period that begins.")
    from_period_id: RowId | None = Field(
        default=None, description="The period that must be the one that ends; else nothing is done (409)."
    )

    @model_validator(mode="after")
    def _is_a_period(self) -> Self:
        _begins_before_it_ends(self.at, self.end, "at")
        return self


class CustodyTransfer(Given):
    """The period that ended, and the one that began then."""

    ended: CustodyPeriod
    begun: CustodyPeriod


class CustodyAction(StrEnum):
    """What was done to a period."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class CustodyChange(Given):
    """A period as it was left by one change; a removed one as it was, with the version that it would have got."""

    period_id: int
    version: int
    action: CustodyAction
    user_id: str
    changed_at: UtcMoment
    device_id: int
    begin: UtcMoment
    end: UtcMoment | None
    custodian_id: int | None
    note: str | None


class CustodyChangePage(Given):
    """All that was done to a device's periods, oldest first; nothing is ever taken out of it."""

    items: list[CustodyChange]
    next: Next
