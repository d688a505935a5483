"""A range of Bates numbers, as a sweep over a file reads it."""

from __future__ import annotations

from typing import NamedTuple

from core.checks.bates import format_number


class BatesEntry(NamedTuple):
    """A range of a series, in the order of the fields.

    `line` is 0 in the case; `control_number` is blank if it equals the first number. A FAMILY_MEMBER is only a part of
    its family: a row whose control number, not its Bates number, is in the series of its family's range. The family is
    that of first to last number, None for both if the row states none in this series.
    """

    suffix: str
    prefix: str
    first: int
    last: int
    line: int
    kind: str
    width: int
    control_number: str
    family_first: int | None = None
    family_last: int | None = None

    @property
    def document(self) -> str:
        """The control number."""
        return self.control_number or self.describe(self.first)

    def describe(self, number: int) -> str:
        """Return a number of the series, with the digits of this entry."""
        return format_number(self.prefix, number, self.width, self.suffix)
