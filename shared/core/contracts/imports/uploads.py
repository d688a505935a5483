"""Models of uploads that can be resumed, and of previews before an upload. Sizes are bytes."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from core.contracts.common import FileName, RequestModel, ResponseModel
from core.contracts.imports.announcements import MAX_SIZE, PART_BYTES, SINGLE_PUT_BYTES, UploadUrls

# Amazon S3 User Guide, "Amazon S3 multipart upload limits": a part has 5 MiB or more, but for the last one.
MIN_BYTES_IN_PARTS, MIN_PART_BYTES = 10_000_000, 16_000_000
MAX_PREVIEW_BYTES = 8_000_000
# So many parts a file has at most, unless each of them has PART_BYTES; and of a response, which Lambda limits.
_FEW_PARTS, MAX_PARTS = 256, 1_000
IN_PARTS = (
    f"Upload the file in parts, if it has {MIN_BYTES_IN_PARTS} bytes or more, so that an upload that was interrupted "
    f"can be resumed; smaller files are uploaded in one request. From {SINGLE_PUT_BYTES} bytes on, all are sent in "
    "parts."
)


def choose_part_bytes(size: int, *, in_parts: bool = False) -> int | None:
    """Return the size of the parts of a file, of which it has at most MAX_PARTS; None for one request.

    With `in_parts`, parts are smaller, so that less is sent again, and files from MIN_BYTES_IN_PARTS on have them.
    """
    if in_parts and size >= MIN_BYTES_IN_PARTS:
        small = max(MIN_PART_BYTES, -(-size // _FEW_PARTS))
        return max(min(small, PART_BYTES), -(-size // MAX_PARTS))
    return max(PART_BYTES, -(-size // MAX_PARTS)) if size >= SINGLE_PUT_BYTES else None


class UploadProgress(StrEnum):
    """How far an upload is: not complete, complete, or deleted by S3 because it was not completed within 7 days."""

    AWAITED = "awaited"
    STORED = "stored"
    EXPIRED = "expired"


class StoredPart(ResponseModel):
    """A part that S3 has. Compare it with the bytes of your file before you rely on it."""

    number: int = Field(description="The part number, from 1.")
    first_byte: int = Field(description="The offset of the part in the file.")
    size: int
    etag: str = Field(description="The ETag, as the list of parts to complete the upload has to state it.")
    checksum_algorithm: str | None = Field(description="The algorithm of `checksum`, such as CRC64NVME.")
    checksum: str | None = Field(description="The checksum that S3 computed of the part, in Base64; null for none.")
    url: str = Field(description="Where to PUT the part again, if your file has other bytes.")


class UploadState(ResponseModel):
    """What of an upload S3 has, and URLs for what is missing.

    `stored`: the file is there, and nothing is to be sent. `expired`: S3 has deleted the parts; announce the import or
    create the volume again, or declare the file of a volume again, and send all of it.
    """

    state: UploadProgress
    size: int | None = Field(description="The size that was announced; null if none was.")
    checksum_algorithm: str | None = Field(description="The algorithm of `checksum`: SHA256 or CRC64NVME.")
    checksum: str | None = Field(
        description="The checksum that S3 holds of the whole file, in Base64, if it is `stored`; null if S3 has none. "
        "Compare it with your file before you rely on it."
    )
    parts: list[StoredPart] = Field(description="The parts that are there; empty for an upload in one request.")
    upload: UploadUrls | None = Field(
        description="The URLs of what is missing: `parts` has only the missing parts, none if all are there. The POST "
        "to `completeUrl` lists all parts of the file. null unless the upload is awaited."
    )


class NewPreview(RequestModel):
    """A file whose beginning is to be previewed before it is uploaded."""

    case: FileName = Field(description="The name of the case that the file is for; it is not created.")
    file_name: FileName
    size: int = Field(ge=1, le=MAX_SIZE, description="The size of the whole file.")


class PendingPreview(ResponseModel):
    """The stored part of the response to POST /previews. Its URL is signed anew for every response."""

    id: str
    bytes: int
    bucket: str
    object_key: str


class PreviewUpload(ResponseModel):
    """A preview that awaits the beginning of the file. PUT exactly its first `bytes` bytes."""

    id: str
    bytes: int = Field(description=f"How many bytes to send: the whole file, at most {MAX_PREVIEW_BYTES}.")
    upload: UploadUrls
