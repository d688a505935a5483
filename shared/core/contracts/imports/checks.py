"""Models of the checks of load files before they are imported. Counts are rows, times are UTC."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from core.contracts.common import NextCursor, RequestModel, ResponseModel
from core.imports.check_summary import CheckStatus, Severity
from core.imports.check_updates import MAX_CHARACTERS, MAX_EXAMPLES


class RunRequest(RequestModel):
    """What to accept when a checked file is imported."""

    acknowledge_warnings: bool = Field(default=False, description="Import the file although the check has warnings.")
    accept_rejections: bool = Field(
        default=False, description="Import the file although rows will be rejected; includes `acknowledgeWarnings`."
    )
    require_unchanged: bool = Field(
        default=False,
        description="Refuse with 409 if exhibits were added to the case, changed or deleted since the check began.",
    )


class CheckedCode(ResponseModel):
    """All findings of a code."""

    code: str = Field(description="docs/load-files.md explains each code.")
    severity: Severity = Field(description="error: a row or the file is not imported.")
    count: int = Field(description="For an error the number of rows, else the number of findings.")
    first_line: int = Field(description="The first line that has it; 0: the whole file.")
    message: str = Field(description="The message of the first finding.")


class ChangedColumn(ResponseModel):
    """A column of the file, and how many rows would change its value in their exhibits."""

    column: str = Field(description="The column, or a field that follows from one, such as document_date.")
    rows: int


class UpdateExample(ResponseModel):
    """A value that would change. A name that would be added has no old text, one that would be removed no new one."""

    line: int
    control_number: str
    column: str
    old: str | None = Field(description=f"The stored text, cut at {MAX_CHARACTERS} characters; null if there is none.")
    new: str | None


class CheckResult(ResponseModel):
    """What an import of the file would do; nothing was written to the case."""

    status: CheckStatus
    would_import: int = Field(description="The rows that would create an exhibit.")
    would_update: int = Field(description="The rows that would change an exhibit; 0 unless the mode is an overlay.")
    unchanged: int = Field(description="The rows whose exhibit exists with the same values.")
    would_reject: int = Field(description="The rows that would not be imported.")
    new_custodians: int = Field(description="The custodians that would be created.")
    new_tags: int = Field(description="The tags that would be created.")
    changed_columns: list[ChangedColumn] = Field(
        description="For an overlay: the columns whose values would change, most rows first."
    )
    examples: list[UpdateExample] = Field(
        description=f"For an overlay: the first changes, {MAX_EXAMPLES} at most, in the order of the file."
    )
    findings: list[CheckedCode] = Field(description="Every code that was found, with its number of findings.")
    report: str | None = Field(
        description="The name of a CSV file of all findings; null until it is written. `GET /imports/{id}/reports` has "
        "the URLs of the files."
    )
    deficiencies: str | None = Field(
        description="The name of a CSV file: what the producing party has to send or correct; null until it is written."
    )
    deficiencies_text: str | None = Field(
        description="The name of the same as a text that can be sent; null until it is written."
    )
    finished_at: datetime


class CheckFinding(ResponseModel):
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

    items: list[CheckFinding]
    next: NextCursor
