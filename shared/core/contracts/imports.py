"""Models of imports. Counts are rows, sizes are bytes, times are UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import ConfigDict, Field, model_validator

from core.contracts.checks import CheckResult
from core.contracts.common import (
    CreateCase,
    FileName,
    Name,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    Total,
    UserName,
)
from core.contracts.import_options import SingleFileOptions
from core.contracts.import_pages import PageCounts, PageReconciliation
from core.contracts.import_reports import ReportNames
from core.contracts.paths import PathFigures, StoredPaths
from core.imports.column_report import ColumnKind
from core.imports.steps import Action
from core.load_file.field_mapping import MappingReason
from core.load_mode import Blanks, Mode, MultiValues, OverlayKey
from core.statuses import ImportKind, ImportPhase, ImportStatus, Wish

MAX_SIZE = 100_000_000_000
SINGLE_PUT_BYTES = 5_000_000_000
PART_BYTES = 100_000_000
MAX_LISTED_COLUMNS, MAX_CORRECTING = 1_000, 100


class NewImport(RequestModel):
    """A load file to upload and import."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"case": "Smith v. Jones", "fileName": "production.dat"}]}
    )

    case: FileName = Field(description="The name of the case, which is created if it does not exist.")
    create_case: CreateCase = True
    file_name: FileName
    size: int | None = Field(
        default=None,
        ge=1,
        le=MAX_SIZE,
        description="The size of the file. If it is sent, exactly this many bytes can be uploaded. Required from "
        f"{SINGLE_PUT_BYTES} bytes on, for an upload in parts.",
    )
    in_parts: bool = Field(
        default=False,
        description="Upload the file in parts, if it has 10000000 bytes or more, so that an interrupted upload can be "
        "resumed. `size` is then required.",
    )
    dry_run: bool = Field(
        default=False,
        description="Check the file and import nothing; `POST /imports/{id}/run` then imports it. "
        "The case is created if it does not exist.",
    )
    hold: bool = Field(
        default=False,
        description="Hold the import once its file is uploaded (`uploaded`): look at its preview, correct its options "
        "with `PUT /imports/{id}/options`, then `POST /imports/{id}/check` or `/run`. Overrides `dryRun`.",
    )
    profile: Name | None = Field(
        default=None,
        description="The name of a mapping profile, which the import copies. `options` override it member by member, "
        "`columns` column by column.",
    )
    # Without validation, which would build the validator when this module is imported.
    options: SingleFileOptions = SingleFileOptions.model_construct()

    @model_validator(mode="after")
    def _has_size_of_parts(self) -> Self:
        if self.in_parts and self.size is None:
            raise ValueError("send size, too: the size of the parts depends on it")
        return self


class UploadPart(ResponseModel):
    """A part of a multipart upload. PUT its `size` bytes to `url` and keep the ETag of the response."""

    number: int = Field(description="The part number, from 1.")
    first_byte: int = Field(description="The offset of the part in the file.")
    size: int
    url: str


class UploadUrls(ResponseModel):
    """The presigned URLs for the upload. To renew them, repeat the request with the same Idempotency-Key.

    PUT the file to `url`. If `parts` is set instead, PUT every part, then POST the list of parts to `completeUrl`. Send
    the `headers` with the PUT to `url` or the POST to `completeUrl`. 412 means that the file is there.
    """

    url: str | None = Field(description="The URL for an upload in one request; null if the file is uploaded in parts.")
    headers: dict[str, str] = Field(
        description="The headers to send to `url` or `completeUrl`, which are signed: 403 without them.",
        examples=[{"If-None-Match": "*"}],
    )
    parts: list[UploadPart] | None = Field(description="The parts of the file; null if it is uploaded in one request.")
    complete_url: str | None = Field(description="The URL for S3's CompleteMultipartUpload; null without parts.")
    expires_in_seconds: int


class PendingUpload(ResponseModel):
    """The stored part of the response to POST /imports. Its URLs are signed anew for every response.

    `multipart_id` is set for an upload in parts of `part_bytes`, and None for an upload in one request. `size` is None
    if it was not announced, and for an upload in one request that was announced before sizes were signed.
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


class ImportUpload(ResponseModel):
    """An import that awaits the upload of its file."""

    id: int
    status: ImportStatus
    case: str
    case_id: int
    file_name: str
    upload_id: str
    upload: UploadUrls


class ProfileUse(ResponseModel):
    """A version of a mapping profile."""

    name: str
    version: int


class ImportState(ResponseModel):
    """The status and the progress of an import.

    `imported`, `unchanged`, `updated` and `rejected` add up to `rowsProcessed`, which reaches `rowsSeen` at the end.
    In the phase `check` they are what an import would do, as the check reports it, and no row is in the case; if the
    check was cancelled or failed, they are 0.
    """

    id: int
    status: ImportStatus
    phase: ImportPhase = Field(description="`check` until a file that was announced with `dryRun`, or is held, is run.")
    wanted: Wish = Field(description="What follows by itself: nothing (`hold`), the check or the import.")
    options_version: int = Field(description="1, and 1 more for each change of the options; for `If-Match`.")
    actions: list[Action] = Field(
        description="The requests that the status allows. Another import, such as one that is being undone, can be a "
        "reason to refuse them nevertheless."
    )
    kind: ImportKind = Field(description="`images` for an image load file, whose rows are documents.")
    mode: Mode | None = Field(description="What the rows do with existing exhibits; null until the file is split.")
    volume_id: int | None = Field(description="The volume that has the file; null for a file that was uploaded alone.")
    volume_name: str | None
    case: str
    case_id: int
    file_name: str
    user_id: str = Field(description="The user who created the import.")
    user_name: UserName
    profile: ProfileUse | None = Field(description="The mapping profile of which the import uses a copy.")
    size: int = Field(description="The size of the uploaded file; before the upload, the announced size or 0.")
    bytes_read: int = Field(
        description="The bytes of the file that are split: `size` once it is split; before, as of the last checkpoint, "
        "which only a large file has."
    )
    sha256: str | None = Field(description="The SHA-256 hash of the file in hexadecimal; null until it is split.")
    failure_code: str | None = Field(description="The reason why the whole file was not imported.")
    failure_message: str | None
    rows_seen: int = Field(description="The rows of the file; 0 until it is split.")
    rows_processed: int
    imported: int = Field(description="The rows that created an exhibit.")
    unchanged: int = Field(description="The rows whose exhibit existed with the same values.")
    updated: int = Field(description="The rows that changed an existing exhibit; 0 unless the mode is an overlay.")
    rejected: int = Field(description="The rows that were not imported.")
    corrects: int | None = Field(description="The import of whose rejected rows this one has corrections, or null.")
    corrected_by: list[int] = Field(
        description=f"The imports that correct rejected rows of this one, newest first, at most {MAX_CORRECTING}."
    )
    open_rejections: int = Field(
        description="The rejected rows that are neither corrected nor discarded; 0 for a correction, whose rows are "
        "open in the import that it corrects, and for a check."
    )
    warnings: int = Field(description="The changes that were made to values of imported rows.")
    chunks: int = Field(description="The chunks into which the file was split.")
    chunks_done: int = Field(description="The chunks whose rows are written, or checked.")
    chunks_failed: int = Field(description="The chunks that failed in every attempt; their rows are rejected.")
    generation: int = Field(description="1 for the first run; rises by 1 with every retry.")
    reports_generation: int = Field(description="The generation of the report files in S3; 0: not written yet.")
    reports_prefix: str | None = Field(description="The prefix of the report files in the bucket.")
    rows_per_second: float | None = Field(description="Since `startedAt`; null unless the import is running.")
    seconds_left: float | None = Field(description="The estimated time left; null unless the import is running.")
    started_at: datetime = Field(
        description="The latest of: the announcement, the arrival of the upload, the last change of options, check, "
        "run or retry."
    )
    finished_at: datetime | None


class ImportColumn(ResponseModel):
    """How a column of the file is read."""

    name: str = Field(description="The name in the header, or `Column` and its number; cut at 255 characters.")
    field: str | None = Field(description="The field that the column feeds; null: it is kept as a property.")
    why: MappingReason = Field(
        description="given: by option `columns`; profile: by the mapping profile; synonym: a known name; "
        "pattern: a name of known words; property: not the name of a field, or another column has the field."
    )
    looks_like: ColumnKind | None = Field(
        description="What a column that is not mapped probably holds, judged by its name."
    )
    date_order: str | None = Field(description="DMY or MDY for a column of dates, else null.")
    time_zone: str | None = Field(
        description="The zone of times without an offset in a column of dates; null if they are stored as written."
    )
    time_zone_version: str | None = Field(description="The version of the IANA database that had the zone.")
    time_column: str | None = Field(description="The column whose times complete the days of a column of dates.")
    date_format: str | None = Field(description="The format that option `dateFormat` states for a column of dates.")
    separator: str | None = Field(description="The separator of custodians or tags in a cell.")


class LoadModeState(ResponseModel):
    """What the rows of an import do with existing exhibits, as `options` says or by default."""

    mode: Mode
    overlay_key: OverlayKey
    blanks: Blanks
    multi_values: MultiValues


class FileReading(ResponseModel):
    """How the file was read, as it was detected or as `options` say."""

    encoding: str
    delimiter: str = Field(description="The character between cells.")
    qualifier: str | None = Field(description="The character around cells; null: none.")
    newline: str | None = Field(description="The character that stands for a line break in a cell; null: none.")
    header: bool = Field(description="Whether the records come after a line with the names of the columns.")
    date_order: str = Field(description="DMY or MDY; a column of dates can have its own, see `columns`.")
    time_zone: str | None = Field(
        description="The zone of times without an offset; null if they are stored as written."
    )


class UncomparedHashes(ResponseModel):
    """Hashes of the load file that were not compared, because the natives were not read."""

    column: str = Field(description="The column of the load file.")
    hashes: int


class FileFigures(ResponseModel):
    """What the rows of a volume's load file have of natives and texts, as counts of rows that are in the case."""

    natives_linked: int
    natives_missing: int = Field(description="NATIVE_MISSING, or a path that is refused or ambiguous.")
    texts_linked: int
    texts_missing: int
    hash_mismatches: int | None = Field(
        description="HASH_MISMATCH: hashes that are not those of the native; null where none was compared."
    )
    hashes_not_compared: list[UncomparedHashes] = Field(
        description="The hashes of natives that were not read, by column: import with `verifyHashes` to compare them."
    )
    unreferenced: int | None = Field(
        description="UNREFERENCED_FILE: files of the volume that no row and no page names; null until all imports of "
        "the volume have ended."
    )
    of_rejected_rows: int | None = Field(
        description="FILE_OF_REJECTED_ROW: files of the volume that only rejected rows name; null until the imports of "
        "the volume have ended."
    )
    paths: list[PathFigures] | None = Field(
        default=None,
        description="How the paths were found, by kind of file, as of the end of the import or its check; null before.",
    )


class ImportDetails(ImportState):
    """An import with its columns, report files and, if it was checked, the result of the check."""

    load_mode: LoadModeState | None = Field(
        description="What the rows do with existing exhibits; null until the file is split."
    )
    reading: FileReading | None = Field(description="null until the file is split, and for an image load file.")
    columns: list[ImportColumn] | None = Field(
        description=f"The first {MAX_LISTED_COLUMNS} columns in file order; null until the file is split, "
        "or if an earlier version split it."
    )
    suggested_profiles: list[ProfileUse] = Field(
        description="The profiles for files with this delimiter and header, newest first; none was applied for that."
    )
    reports: ReportNames | None = Field(description="null until the report files are written.")
    files: FileFigures | None = Field(description="null unless the load file is one of a volume.")
    stored_paths: StoredPaths | None = Field(
        description="The rows that name natives or texts although the load file is not one of a volume, so that no "
        "file is linked; null if none does. Import the volume that has the files to link them."
    )
    pages: PageCounts | None = Field(description="null unless the file is an image load file that was split.")
    reconciliation: PageReconciliation | None = Field(
        description="What the pages were compared with; null unless the file is an image load file whose import or "
        "check has ended, and was run by this version."
    )
    check: CheckResult | None = Field(description="null unless the file was checked; it stays when the import is run.")
    waits_for_undo_of: int | None = Field(
        description="An import of the same case that is being undone, while this one is splitting: no row is imported "
        "before the undo has ended. A check does not wait."
    )


class ImportPage(ResponseModel):
    """A page of imports, newest first."""

    items: list[ImportState]
    next: NextCursor
    prev: PrevCursor
    total: Total = None
