"""Models of volumes. Sizes are bytes, times are UTC."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

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
from core.contracts.imports.announcements import UploadUrls
from core.contracts.imports.options import Options
from core.contracts.imports.uploads import IN_PARTS, choose_part_bytes
from core.statuses import ImportKind, ImportStatus, VolumeStatus, Wish

MAX_FILE_BYTES = 1_000_000_000_000
# Of one response, which Lambda limits to 6 MB ("Lambda quotas"), counted as it is sent: JSON in JSON.
MAX_URLS, MAX_RESPONSE_BYTES = 1_000, 5_500_000
# The most of a signed URL without its key, with a session token of 2,000 characters, and of the JSON around it.
_URL_BYTES = 2_600
_Path = Annotated[str, Field(min_length=1, max_length=1_024)]
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Size = Annotated[int, Field(ge=0, le=MAX_FILE_BYTES)]


class NewArchive(RequestModel):
    """A zip with all files of a volume."""

    file_name: FileName
    size: int = Field(
        ge=1, le=MAX_FILE_BYTES, description="The size of the zip. Exactly this many bytes can be uploaded."
    )
    in_parts: bool = Field(default=False, description=IN_PARTS)


class NewVolume(RequestModel):
    """A volume to upload: files that are declared with `POST /volumes/{id}/files`, or one zip."""

    case: FileName = Field(description="The name of the case, which is created if it does not exist.")
    create_case: CreateCase = True
    name: Name = Field(description="The name of the volume, such as VOL001.", examples=["VOL001"])
    archive: NewArchive | None = Field(default=None, description="The zip; without it, files are uploaded.")


class NewVolumeFile(RequestModel):
    """A file to upload into a volume."""

    path: _Path = Field(
        description="The path within the volume, with slashes.", examples=["VOL001/NATIVES/001/ABC000001.xlsx"]
    )
    size: _Size
    sha256: _Sha256 | None = Field(
        default=None,
        description="The SHA-256 of the file in hexadecimal; S3 then accepts no other bytes. Of a file that is sent in "
        "parts, it is not compared.",
    )

    in_parts: bool = Field(default=False, description=IN_PARTS)

    @property
    def part_bytes(self) -> int | None:
        """The size of its parts; None if it is sent in one request."""
        return choose_part_bytes(self.size, in_parts=self.in_parts)

    def count_urls(self, part_bytes: int | None) -> int:
        """Return how many URLs its upload has, in parts of this size."""
        return -(-self.size // part_bytes) if part_bytes else 1

    def estimate_response_bytes(self, prefix: str, part_bytes: int | None) -> int:
        """Return at least the bytes that its URLs and its path take in a response, for a key with this prefix.

        Each byte of the key can be three characters of a URL; a character of the path can be twelve of JSON.
        """
        key_bytes = len((prefix + self.path).encode())
        urls = self.count_urls(part_bytes) + (part_bytes is not None)
        return urls * (_URL_BYTES + 3 * key_bytes) + len(json.dumps(json.dumps(self.path)))


class PendingArchive(ResponseModel):
    """The stored part of the URLs of a zip."""

    bucket: str
    object_key: str
    size: int
    multipart_id: str | None
    part_bytes: int | None = None


class PendingVolume(ResponseModel):
    """The stored part of the response to POST /volumes. Its URLs are signed anew for every response."""

    id: int
    status: VolumeStatus
    case: str
    case_id: int
    name: str
    prefix: str
    archive: PendingArchive | None


class CreatedVolume(ResponseModel):
    """A volume that awaits its files."""

    id: int
    status: VolumeStatus
    case: str
    case_id: int
    name: str
    prefix: str = Field(description="What the keys of its files in the bucket begin with; the path follows.")
    upload: UploadUrls | None = Field(description="The URLs to upload the zip; null for a volume of files.")


class PendingFile(ResponseModel):
    """The stored part of the URLs of a file."""

    path: str
    size: int
    sha256: str | None
    multipart_id: str | None
    part_bytes: int | None = None


class PendingFiles(ResponseModel):
    """The stored part of the response to POST /volumes/{id}/files."""

    bucket: str
    prefix: str
    items: list[PendingFile]
    remaining: int = 0


class FileUpload(ResponseModel):
    """The URLs to upload a file."""

    path: str
    size: int
    stored: bool = Field(
        description="Whether the bucket has the file, with this size. Where it is not known, this is false, and S3 "
        "answers the upload with 412."
    )
    upload: UploadUrls | None = Field(description="null if the file is stored.")


class FileUploads(ResponseModel):
    """The URLs to upload files, in the order in which they were declared."""

    items: list[FileUpload]
    remaining: int = Field(
        default=0,
        description="How many files at the end of the list were not declared, because the response would be too large. "
        "Declare them in another request, with a key of its own.",
    )


class VolumeImportRequest(RequestModel):
    """What of a volume to import, and how."""

    load_file: _Path | None = Field(
        default=None,
        description="The path of the DAT, CSV or TXT file; by default the only one in the root of the volume or in "
        "`DATA/`.",
    )
    image_load_file: _Path | None = Field(
        default=None,
        description="The path of the OPT or LFP file; by default all OPT files there, or all LFP files, if there are "
        "any.",
    )
    zip_names: str | None = Field(
        default=None,
        max_length=16,
        description="The encoding of names in the zip that do not state theirs, such as cp437 or cp932; by default "
        "UTF-8 if all names are valid UTF-8, else cp437.",
    )
    dry_run: bool = Field(
        default=False,
        description="Check the load files and import nothing. `POST /volumes/{id}/run` then imports them; nothing is "
        "uploaded again. `POST /imports/{id}/run` imports the rows alone.",
    )
    hold: bool = Field(
        default=False,
        description="Hold the imports once the volume is ready (`uploaded`): look at their previews, correct their "
        "options with `PUT /imports/{id}/options`, then check the data file, or run the volume. Overrides `dryRun`.",
    )
    profile: Name | None = Field(
        default=None, description="The name of a mapping profile, which the import copies; `options` override it."
    )
    options: Options = Options.model_construct()


class VolumeImport(ResponseModel):
    """An import of a volume's load file."""

    id: int
    kind: ImportKind
    path: str = Field(description="The path of the load file within the volume; of an error file, its name.")
    status: ImportStatus
    wanted: Wish = Field(description="What follows by itself: nothing (`hold`), the check or the import.")
    options_version: int = Field(description="1, and 1 more for each change of the options.")


class Volume(ResponseModel):
    """A volume: what it has, and how far its expansion is."""

    id: int
    status: VolumeStatus
    case: str
    case_id: int
    name: str
    user_id: str = Field(description="The user who created the volume.")
    user_name: UserName
    kind: Literal["files", "zip"]
    prefix: str
    files: int = Field(description="The files of the volume; 0 until they are listed.")
    bytes: int = Field(description="The bytes of these files.")
    ignored: int = Field(description="Folders and files that systems add, such as .DS_Store, which are left out.")
    late_files: int = Field(
        description="LATE_FILE: files that arrived after the list had passed their place; they are not in the volume."
    )
    late_names: list[str] = Field(description="The paths of the first of these.")
    units: int = Field(description="The parts in which the zip is expanded, or the files are hashed.")
    units_left: int = Field(description="The parts that are not done yet.")
    load_file: str | None = Field(description="The load file that was chosen or found; null before.")
    image_load_file: str | None = Field(
        description="The image load file that was chosen or found, of several the first; null for none."
    )
    image_load_files: list[str] = Field(
        description="All image load files that are imported, in this order, each with an import of its own."
    )
    generation: int = Field(description="1, and 1 more for each request to import or delete it.")
    failure_code: str | None = Field(description="Why it cannot be imported; docs/load-files.md lists the codes.")
    failure_message: str | None
    created_at: datetime
    finished_at: datetime | None = Field(description="When it became ready or failed.")


class LoadFileCandidate(ResponseModel):
    """A file of a volume that can be its load file, by its name and place."""

    path: str
    size: int
    kind: Literal["data", "images"]


class VolumeDetails(Volume):
    """A volume with its imports."""

    candidates: list[LoadFileCandidate] = Field(
        description="The files that can be its load files, by path, the first 100; none before the volume is listed. "
        "`loadFile` and `imageLoadFile` of an import of the volume name one of each kind."
    )
    imports: list[VolumeImport] = Field(description="The imports of its load files, newest first.")


class VolumePage(ResponseModel):
    """A page of volumes, newest first."""

    items: list[Volume]
    next: NextCursor
    prev: PrevCursor
    total: Total = None


class VolumeFile(ResponseModel):
    """A file of a volume."""

    number: int = Field(description="The number of the file within the volume, from 0.")
    path: str
    size: int
    version_id: str | None = Field(description="The version of the object; null until the zip's entry is expanded.")
    md5: str | None = Field(description="MD5 in hexadecimal; null if it is not known.")
    sha1: str | None
    sha256: str | None


class VolumeFilePage(ResponseModel):
    """A page of a volume's files, in the order of their numbers."""

    items: list[VolumeFile]
    next: NextCursor
    prev: PrevCursor
