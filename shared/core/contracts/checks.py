"""Models of the checks of load files before they are imported. Counts are rows, times are UTC."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from core.contracts.common import NextCursor, RequestModel, ResponseModel
from core.imports.check_summary import CheckStatus, Severity


class RunRequest(RequestModel):
    """What to accept when a checked file is imported."""

    acknowledge_warnings: bool = Field(default=False, description="Import the file although the check has warnings.")
    accept_rejections: bool = Field(
        default=False, description="Import the file although rows will be rejected; includes `acknowledgeWarnings`."
    )
    require_unchanged: bool = Field(
        default=False,
        description="Refuse with 409 if exhibits were added to the case or deleted since the check began.",
    )


class CheckedCode(ResponseModel):
    """All findings of a code."""

    code: str = Field(description="docs/load-files.md explains each code.")
    severity: Severity = Field(description="error: a row or the file is not imported.")
    count: int = Field(description="For an error the number of rows, else the number of findings.")
    first_line: int = Field(description="The first line that has it; 0: the whole file.")
    message: str = Field(description="The message of the first finding.")


class CheckResult(ResponseModel):
    """What an import of the file would do; nothing was written to the case."""

    status: CheckStatus
    would_import: int = Field(description="The rows that would create an exhibit.")
    would_update: int = Field(description="The rows that would change an exhibit. Always 0: such rows are rejected.")
    unchanged: int = Field(description="The rows whose exhibit exists with the same values.")
    would_reject: int = Field(description="The rows that would not be imported.")
    new_custodians: int = Field(description="The custodians that would be created.")
    new_tags: int = Field(description="The tags that would be created.")
    findings: list[CheckedCode] = Field(description="Every code that was found, with its number of findings.")
    report: str | None = Field(description="The URL of a CSV file of all findings; null until it is written.")
    finished_at: datetime


class Finding(ResponseModel):
    """Something that a check found."""

    line: int = Field(description="The row's first line in the file, from 1; 0: the whole file.")
    rows: int = Field(description="1, or the number of rows of a chunk that could not be checked.")
    column: str | None
    code: str
    severity: Severity
    message: str
    control_number: str | None


class FindingPage(ResponseModel):
    """A page of findings, by code and in the order of the file."""

    items: list[Finding]
    next: NextCursor
