"""The steps of the saga that makes a production."""

from __future__ import annotations

from enum import StrEnum


class StepName(StrEnum):
    """The steps in the order in which they run; the values are those that the tables hold and the API returns."""

    BEGIN = "begin"
    RESERVE = "reserve"
    COPY = "copy"
    CONFIRM = "confirm"
    NOTIFY = "notify"
