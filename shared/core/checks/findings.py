"""A finding of a check: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from core.codes import CheckCode

MAX_LISTED = 20


class Severity(StrEnum):
    """Whether a finding prevents the import: an error does, a warning must be acknowledged."""

    ERROR = "error"
    WARNING = "warning"


class Finding(NamedTuple):
    """A fault at a line of the file, in a column or (None) in the whole row; `control_number` is that of the row."""

    code: CheckCode
    severity: Severity
    line: int
    column: str | None
    message: str
    control_number: str


class FactNames(NamedTuple):
    """The header names of the columns from which facts come, None for a column that the file lacks."""

    control_number: str | None = None
    bates_begin: str | None = None
    bates_end: str | None = None
    parent: str | None = None
    native_hash: str | None = None
    page_count: str | None = None
    family_begin: str | None = None
    family_end: str | None = None


def warn(code: CheckCode, line: int, column: str | None, message: str, control_number: str) -> Finding:
    """Return a finding that does not prevent the import."""
    return Finding(code, Severity.WARNING, line, column, message, control_number)


def list_lines(lines: Iterable[int], count: int) -> str:
    """Return the first 20 of the lines for a message, and how many of the `count` lines are not listed."""
    listed = sorted(lines)[:MAX_LISTED]
    more = f" and {count - len(listed)} more" if count > len(listed) else ""
    return ", ".join(map(str, listed)) + more
