"""Models of the rejected rows of an import as cells, and of their corrections."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from core.contracts.common import MAX_ID, NextCursor, RequestModel, ResponseModel, UserName, UtcTimestamp
from core.imports.corrections import MAX_BYTES, MAX_ROWS
from core.load_file.options import MAX_COLUMNS
from core.statuses import ImportStatus

Line = Annotated[int, Field(ge=1, le=MAX_ID)]


class NewCorrectedRow(RequestModel):
    """A row in place of a rejected one."""

    line: Line = Field(description="The line of the rejected row.")
    cells: list[str] = Field(
        max_length=MAX_COLUMNS,
        description="All cells of the row, one for each of `columns` of the rejected rows, as the file has "
        "them: with its dates, separators and characters for line breaks.",
    )
    version: int | None = Field(
        default=None,
        ge=1,
        le=MAX_ID,
        description="For an overlay: the version of the document that was looked at. Without it, the row is rejected "
        "(`DOCUMENT_CHANGED`) if the document was changed since the import rejected the row. No effect in an "
        "import that only appends, which changes no document.",
    )


class NewCorrections(RequestModel):
    """Rejected rows to correct and to discard, at most 1,000 of each; a line occurs once."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"rows": [{"line": 17, "cells": ["ABC-017", "Invoice", "31/12/2019"]}], "discard": [23]}]
        }
    )

    rows: list[NewCorrectedRow] = Field(
        default=[], max_length=MAX_ROWS, description=f"The corrected rows, of {MAX_BYTES:,} bytes in all."
    )
    discard: list[Line] = Field(
        default=[], max_length=MAX_ROWS, description="Lines of rejected rows that are left out for good."
    )

    @model_validator(mode="after")
    def require_lines(self) -> NewCorrections:
        """Raise ValueError without any line, or if one occurs twice."""
        lines = [*(row.line for row in self.rows), *self.discard]
        if not lines:
            raise ValueError("send rows to correct or lines to discard")
        if len(set(lines)) < len(lines):
            raise ValueError("a line occurs twice; send it once")
        return self


class Correction(ResponseModel):
    """What a request corrected and discarded."""

    id: int | None = Field(description="The import of the corrected rows; null if rows were only discarded.")
    status: ImportStatus | None = Field(description="The status of that import; null without one.")
    corrects: int = Field(description="The import whose rejected rows they are.")
    rows: int = Field(description="The corrected rows. Each counts as corrected once the import has accepted it.")
    discarded: int
    open_rejections: int = Field(description="The rejected rows that are neither corrected nor discarded.")


class RowColumn(ResponseModel):
    """A column of the file."""

    number: int = Field(description="The number of the column, from 1.")
    name: str = Field(description="The first 255 characters of its name.")
    field: str | None = Field(description="The field of an exhibit that it fills; null for a property.")


class CellError(ResponseModel):
    """Why a row was rejected."""

    column: str | None
    column_number: int | None = Field(description="The number of the column at fault, from 1; null for the whole row.")
    code: str = Field(description="The reason; the rejection codes are in docs/load-files.md.")
    message: str
    suggestion: str | None = Field(description="A value for the cell that may be what is meant; null if none is known.")


class RejectedCells(ResponseModel):
    """A row that was not imported."""

    line: int = Field(description="The row's first line in the file, from 1.")
    rows: int = Field(description="1, or the number of rows of a chunk that failed in every attempt: retry the import.")
    original_line: int | None = Field(
        description="The row's line in the file that was first imported, if this one is an error file or a correction."
    )
    cells: list[str] | None = Field(
        description="The cells in the order of the columns, with U+FFFD for bytes that cannot be decoded. null if the "
        "row cannot be read as cells, is longer than 500,000 bytes, or is one of an image load file or stands for a "
        "chunk."
    )
    raw: str = Field(description="The beginning of the row as it is in the file, at most 10,000 bytes of it.")
    raw_is_truncated: bool
    errors: list[CellError]
    corrected_by: int | None = Field(
        description="The import that has corrected the row, or is correcting it; null if none has or is."
    )
    discarded_by: str | None = Field(description="The user who discarded the row; null unless it is discarded.")
    discarded_by_name: UserName
    discarded_at: UtcTimestamp | None


class RejectedRowPage(ResponseModel):
    """A page of rejected rows, in the order of the file: at most about 2 MB, and fewer rows where they are long."""

    columns: list[RowColumn] | None = Field(description="The columns; null for an image load file.")
    items: list[RejectedCells]
    next: NextCursor
