"""Models of imports that are announced, and of the URLs of their uploads. Sizes are bytes."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import ConfigDict, Field, model_validator

from core.contracts.common import (
    MAX_ID,
    CreateCase,
    FileName,
    Name,
    RequestModel,
    ResponseModel,
)
from core.contracts.imports.options import SingleFileOptions
from core.statuses import ImportStatus

MAX_SIZE = 100_000_000_000
SINGLE_PUT_BYTES = 5_000_000_000
PART_BYTES = 100_000_000


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
    corrects: int | None = Field(
        default=None,
        ge=1,
        le=MAX_ID,
        description="The import whose rejected-rows file this is, corrected. Its lines count as corrected once the "
        "case has their rows. The rows are read as that import was; only how the file is written is detected. Not "
        "with `profile`.",
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

    @model_validator(mode="after")
    def _has_no_profile_of_corrections(self) -> Self:
        if self.corrects is not None and self.profile is not None:
            raise ValueError("send corrects or profile: corrected rows are read as the import that they are of")
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
    started_at: datetime | None = None


class ImportUpload(ResponseModel):
    """An import that awaits the upload of its file."""

    id: int
    status: ImportStatus
    case: str
    case_id: int
    file_name: str
    upload_id: str
    started_at: datetime | None = Field(description="The time of the announcement; null for one of an earlier version.")
    upload: UploadUrls
