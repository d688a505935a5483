"""What may be asked of a list, in the query string."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from core.contracts.common import MAX_ID, MAX_PAGE, Contract
from core.moments import parse_moment
from core.statuses import ImportStatus


def _in_digits(value: object) -> object:
    """Python would read `1_0` and ` 10 ` as ten."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise ValueError("a number is written in digits alone")
    return value


def _moment(value: object) -> object:
    return parse_moment(value) if isinstance(value, str) else value


class PageQuery(Contract):
    """Which part of a list."""

    limit: Annotated[int, BeforeValidator(_in_digits)] = Field(
        default=100, ge=1, le=MAX_PAGE, description="At most so many items."
    )
    after: str | None = Field(
        default=None, min_length=1, max_length=4_000, description="`next` of the previous page; left out: the first."
    )


class ImportQuery(PageQuery):
    """Which imports."""

    case: str | None = Field(default=None, min_length=1, max_length=255, description="Those of the case of this name.")
    status: ImportStatus | None = Field(default=None, description="Those in this state.")


class CaseQuery(PageQuery):
    """What belongs to one case."""

    case: str = Field(min_length=1, max_length=255, description="The case's name.")


class ExhibitQuery(CaseQuery):
    """Which exhibits of a case; several conditions must all hold."""

    custodian: str | None = Field(default=None, min_length=1, max_length=255, description="Those that this one held.")
    tag: str | None = Field(default=None, min_length=1, max_length=500, description="Those that carry this tag.")
    control_number: str | None = Field(
        default=None, min_length=1, max_length=255, description="The one of this number."
    )


class ProductionQuery(PageQuery):
    """Which productions."""

    case: str | None = Field(default=None, min_length=1, max_length=255, description="Those of the case of this name.")


class DeviceQuery(PageQuery):
    """What belongs to one device."""

    device_id: Annotated[int, BeforeValidator(_in_digits)] = Field(ge=1, le=MAX_ID, description="The device.")


def _bound(alias: str, description: str) -> Any:
    schema: dict[str, Any] = {"type": "string", "format": "date-time"}
    return Field(default=None, alias=alias, description=description, json_schema_extra=schema)


class PeriodQuery(DeviceQuery):
    """Which periods of a device; those that overlap `[from, to)`."""

    begin: Annotated[datetime | None, BeforeValidator(_moment)] = _bound("from", "Those that end after this moment.")
    end: Annotated[datetime | None, BeforeValidator(_moment)] = _bound("to", "Those that begin before this moment.")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise ValueError("to must be after from")
        return self
