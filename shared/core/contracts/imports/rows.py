"""Models of the rejected rows and the warnings of an import."""

from __future__ import annotations

from pydantic import Field

from core.contracts.common import NextCursor, ResponseModel


class RejectedRow(ResponseModel):
    """A row that was not imported, and the reason."""

    line: int = Field(description="The row's first line in the file, from 1.")
    rows: int = Field(description="1, or the number of rows of a chunk that failed in every attempt.")
    column: str | None
    code: str = Field(description="The reason; the rejection codes are in docs/load-files.md.")
    message: str
    control_number: str | None
    byte_start: int = Field(description="The offset of the row's bytes in the uploaded file.")
    byte_length: int
    original_line: int | None = Field(
        description="The row's line in the original file; null if the imported file is not an error file, or has none "
        "for the row."
    )


class RejectionPage(ResponseModel):
    """A page of rejected rows, in the order of the file."""

    items: list[RejectedRow]
    next: NextCursor
    total: int | None = Field(description="The items of all pages, with the filters of the request; null with `open`.")


class ChangedValue(ResponseModel):
    """A value of an imported row that was changed to be stored, or a decision about the whole file."""

    line: int = Field(description="The row's first line in the file, from 1; 0: the whole file.")
    column: str | None
    code: str = Field(description="The reason; the warning codes are in docs/load-files.md.")
    message: str
    control_number: str | None
    original: str | None = Field(
        description="The original value in Base64. null if it is longer than 1 KB: read it from the bytes of the row."
    )
    original_text: str | None = Field(
        description="The original value as text, with U+FFFD for what could not be decoded; null as `original` is."
    )
    stored_text: str | None = Field(
        description="The stored value; null if it is longer than 1 KB, or the warning is not about a changed value."
    )
    original_bytes: int | None = Field(description="The length of the original value.")
    stored_bytes: int | None = Field(description="The length of the stored value.")
    byte_start: int | None = Field(description="The offset of the row's bytes in the uploaded file.")
    byte_length: int | None


class WarningPage(ResponseModel):
    """A page of warnings, in the order of the file."""

    items: list[ChangedValue]
    next: NextCursor
    total: int = Field(description="The items of all pages, with the filters of the request.")
