"""Models of exports: files of documents, pages, tags and history."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from core.contracts.common import (
    Name,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    RowId,
    Total,
    UserName,
    UtcTimestamp,
)
from core.contracts.exhibit_queries import ExhibitSelection
from core.exports.columns import COLUMNS, KEPT_DAYS, ExportFormat, ExportKind, choose_columns, to_camel
from core.statuses import ExportStatus

_COLUMNS = "; ".join(f"{kind}: {', '.join(map(to_camel, names))}" for kind, names in COLUMNS.items())


class NewExport(RequestModel):
    """An export to create: the exhibits of a case that match the filters, or what belongs to them."""

    case: Name | None = Field(default=None, description="The name of the case.")
    case_id: RowId | None = Field(default=None, description="The id of the case; instead of `case`.")
    kind: ExportKind = Field(strict=False, description="What a row of the file is.")
    format: ExportFormat = Field(
        strict=False, description="csv: UTF-8 with a byte order mark, for spreadsheets; jsonl: a JSON object a line."
    )
    filters: ExhibitSelection = Field(
        default_factory=ExhibitSelection, description="The filters of `GET /exhibits`; none: every exhibit of the case."
    )
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=max(map(len, COLUMNS.values())),
        description=f"The columns in their order; by default all of the kind. {_COLUMNS}.",
    )

    @model_validator(mode="after")
    def _has_one_case(self) -> Self:
        if (self.case is None) == (self.case_id is None):
            raise ValueError("send case, the name of the case, or caseId, and not both")
        return self

    @model_validator(mode="after")
    def _has_known_columns(self) -> Self:
        choose_columns(self.kind, self.columns)
        return self


class Export(ResponseModel):
    """An export, and how far it is."""

    id: int
    case: str
    case_id: int
    kind: ExportKind
    format: ExportFormat
    filters: dict[str, Any] = Field(description="The filters, as they were requested.")
    columns: list[str] = Field(description="The columns of the file, in their order.")
    status: ExportStatus
    documents: int = Field(description="How many documents are written.")
    expected_documents: int | None = Field(
        description="How many documents matched when the export was requested; null if one search does not count them."
    )
    rows: int = Field(description="How many rows are written.")
    size: int = Field(description="How many bytes are written.")
    reason: str | None = Field(description="Why the export failed; null unless it did.")
    created_by: str = Field(description="The user who requested the export.")
    created_by_name: UserName
    created_at: UtcTimestamp
    finished_at: UtcTimestamp | None = Field(description="When the export ended; null before.")
    expires_at: UtcTimestamp | None = Field(
        description=f"Until when the file can be downloaded: {KEPT_DAYS} days from the start of the work; null unless "
        "the export is completed."
    )


class ExportPage(ResponseModel):
    """A page of exports, newest first."""

    items: list[Export]
    next: NextCursor
    prev: PrevCursor
    total: Total = None


class ExportFile(ResponseModel):
    """The file of a completed export."""

    file_name: str = Field(description="The name under which the file is downloaded.")
    size: int = Field(description="The size in bytes.")
    url: str = Field(description="GET downloads the file.")
    expires_in_seconds: int = Field(description="How long the URL is valid.")
