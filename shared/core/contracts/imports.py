"""Imports as the API takes and gives them; counts are rows, sizes bytes, times UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from core.contracts.common import FileName, Given, Next, Taken
from core.statuses import ImportStatus

MAX_SIZE = 10_000_000_000
SINGLE_PUT_BYTES = 5_000_000_000
PART_BYTES = 100_000_000
MAX_OPTION_COLUMNS = 1_000


ColumnName = Annotated[str, Field(min_length=1, max_length=1_000)]


def _character(what: str) -> Any:
    said = f"{what}: a character, its decimal code, or its name, as comma, tab, pipe, quote, thorn or concordance."
    return Field(default=None, min_length=1, max_length=16, description=said)


class Options(Taken):
    """What is to be said about the file; whatever is left out is detected.

    What `options.json` beside an import's rejected rows holds can be sent as it is.
    """

    # The options file beside rejected rows has the names in snake_case.
    model_config = ConfigDict(populate_by_name=True)

    encoding: str | None = Field(default=None, max_length=32, description="utf-8, utf-16 or cp1252.")
    delimiter: str | None = _character("Between two cells")
    qualifier: str | None = _character("Around a cell; none: there is none")
    newline: str | None = _character("What stands for a line end within a cell; none: nothing does")
    header: bool = Field(default=True, description="Whether the first line names the columns.")
    columns: dict[ColumnName, str] = Field(
        default_factory=dict,
        max_length=MAX_OPTION_COLUMNS,
        description="What columns mean, by name or by number from 1: control_number, title, custodians, tags, ...",
        examples=[{"Doc ID": "control_number", "Author": "custodians"}],
    )
    date_order: Literal["DMY", "MDY"] | None = Field(default=None, description="Of dates with two-digit months.")

    def as_document(self) -> dict[str, Any]:
        """As an options file has it, without what was not given."""
        return self.model_dump(by_alias=False, exclude_none=True)


class NewImport(Taken):
    """A load file that is about to be uploaded."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"case": "Smith v. Jones", "fileName": "production.dat"}]}
    )

    case: FileName = Field(description="The name of the case; it is made if there is none.")
    file_name: FileName
    size: int | None = Field(
        default=None,
        ge=1,
        le=MAX_SIZE,
        description=f"The file's size in bytes; needed from {SINGLE_PUT_BYTES} on, which is uploaded in parts.",
    )
    # Without a validator, which otherwise would be made by every import of this module.
    options: Options = Options.model_construct()


class UploadPart(Given):
    """One part of an upload: PUT these bytes of the file, and keep the ETag that S3 answers."""

    number: int
    first_byte: int
    size: int
    url: str


class UploadUrls(Given):
    """How to upload: `url` by one PUT, or `parts`, and then POST their list to `completeUrl` as S3 has it.

    The URLs hold for `expiresInSeconds`; the same request under the same Idempotency-Key signs them anew.
    """

    url: str | None
    parts: list[UploadPart] | None
    complete_url: str | None
    expires_in_seconds: int


class PendingUpload(Given):
    """What is kept of an announced import, to sign its upload anew for every answer; it holds no URL itself.

    `multipart_id` and `size` are given for an upload in parts of `part_bytes`, and null for one by a single PUT.
    """

    id: int
    case: str
    case_id: int
    file_name: str
    upload_id: str
    bucket: str
    object_key: str
    multipart_id: str | None = None
    size: int | None = None
    part_bytes: int = PART_BYTES


class ImportUpload(Given):
    """An import that awaits its file."""

    id: int
    status: ImportStatus
    case: str
    case_id: int
    file_name: str
    upload_id: str
    upload: UploadUrls


class ImportState(Given):
    """How far an import is. The four counts add up to `rowsSettled`; the rest of `rowsSeen` is still to come.

    `startedAt` is when it was announced, its upload was found, or it was last retried, whichever was last.
    `rowsPerSecond` and `secondsLeft` are of the time since then, and null unless the import runs and a row is settled.
    """

    id: int
    status: ImportStatus
    case: str
    case_id: int
    file_name: str
    user_id: str
    size: int = Field(description="Of the uploaded version; before the upload the announced one, or 0.")
    sha256: str | None
    failure_code: str | None
    failure_message: str | None
    rows_seen: int
    rows_settled: int
    imported: int
    unchanged: int
    updated: int
    rejected: int
    warnings: int
    chunks: int
    chunks_failed: int
    generation: int = Field(description="1, and one more for every retry.")
    reports_generation: int = Field(description="The reports in S3 are of this generation; 0: none yet.")
    reports_prefix: str | None = Field(description="Where in the bucket the reports are.")
    rows_per_second: float | None
    seconds_left: float | None
    started_at: datetime
    finished_at: datetime | None


class ReportUrls(Given):
    """Where the report files can be read; each URL holds for `expiresInSeconds`.

    Mend `rejectedRows`, which are in the file's own bytes, and import them as a file of their own, with what `options`
    holds as its options: then they are read as the whole file was.
    """

    rejected_rows: str
    report: str
    warnings: str
    options: str
    expires_in_seconds: int


class ImportDetails(ImportState):
    """An import with its report files, once they are written."""

    reports: ReportUrls | None


class ImportPage(Given):
    """Imports, newest first."""

    items: list[ImportState]
    next: Next


class RejectedRow(Given):
    """A row that was not imported; its `byteLength` bytes lie at `byteStart` of the uploaded version."""

    line: int
    rows: int = Field(description="1, or the rows of a part of the file that was given up as a whole.")
    column: str | None
    code: str
    message: str
    control_number: str | None
    byte_start: int
    byte_length: int


class RejectionPage(Given):
    """Rejected rows in the file's order."""

    items: list[RejectedRow]
    next: Next


class ChangedValue(Given):
    """What was changed in an imported row, or (line 0) decided for the whole file.

    `original` is what the file had, as base64, where it is no longer than 1 KB; else the row's bytes are the original.
    """

    line: int
    column: str | None
    code: str
    message: str
    control_number: str | None
    original: str | None
    original_bytes: int | None
    stored_bytes: int | None
    byte_start: int | None
    byte_length: int | None


class WarningPage(Given):
    """Warnings in the file's order."""

    items: list[ChangedValue]
    next: Next
