"""Send one folder or zip as a volume, have it listed and expanded, and find its imports.

Guaranteed: a command that was interrupted can be run again: files of a folder, and parts of a zip or of a large file,
that are in the bucket are not sent twice, as long as the stack keeps them and the folder is the same; one with other
bytes becomes another volume. The bucket is in memory: that of a stack that runs for one command ends with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import urllib3

from exhibit_ingest.stack_parts import HasActivity, HasApi, HasBucket, HasLogs, HasStateFolder
from exhibit_ingest.volumes.arguments import name_arguments
from exhibit_ingest.volumes.inventory import LocalFile, Upload, UploadMemory, identify_content
from exhibit_ingest.volumes.resuming import send_missing
from exhibit_ingest.volumes.sending import FileSender, list_sent
from exhibit_ingest.volumes.survey import Source
from exhibit_ingest.volumes.volume_api import ConflictError, Document, VolumeApi
from local.errors import ImportStalledError, LocalError

STALLED_SECONDS = 60.0
_POLL_SECONDS = 0.1
_ENDS = ("ready", "failed")
# What is done, how much of it, of how much; 0 of 0 where that is not known.
OnProgress = Callable[[str, int, int], None]


class VolumeStack(HasActivity, HasApi, HasBucket, HasLogs, HasStateFolder, Protocol):
    """The part of a stack that a volume needs."""


@dataclass(frozen=True)
class VolumeRequest:
    """A folder or zip to import or check, and how; `settings` are members of the request to import a volume."""

    source: Source
    tenant: str
    case: str
    options: dict[str, Any]
    settings: dict[str, str] = field(default_factory=dict)
    is_check: bool = False
    profile: str | None = None


class ImportPlace(NamedTuple):
    """An import of a volume: its number, whether it is of rows or images, its load file, and the key of that."""

    id: int
    kind: str
    path: str
    key: str


class VolumeSender:
    """Sends a volume to a stack, and waits until it is ready; `volume_id` is None until it is created.

    `sent` says what of a folder is there, until everything is; None before and after, and for a zip.
    """

    def __init__(self, stack: VolumeStack, request: VolumeRequest, on_progress: OnProgress) -> None:
        self._stack, self._request, self._on_progress = stack, request, on_progress
        self._api = VolumeApi(stack, request.tenant)
        self.volume_id: int | None = None
        self.sent: str | None = None

    def send(self) -> Document:
        """Send all files, request the import, and return the volume once it is ready.

        Raises LocalError with what is wrong and what to do, OSError for a file.
        """
        if self._request.source.files:
            self._send_folder(self._request.source)
        else:
            self._send_zip(self._request.source)
        volume = self._wait()
        if volume["status"] == "failed":
            raise LocalError(name_arguments(f"{volume['failureCode']}: {volume['failureMessage']}"))
        return volume

    def list_imports(self) -> list[ImportPlace]:
        """Return the imports of the volume's last request, that of rows before those of images."""
        volume = self._read_volume()
        places = sorted(
            ImportPlace(each["id"], each["kind"], each["path"], volume["prefix"] + each["path"])
            for each in volume["imports"]
        )
        # The imports of a request are created in this order.
        first = max((place.id for place in places if place.kind == "rows"), default=0)
        return [place for place in places if place.id >= first] if first else places[-1:]

    def read_import(self, import_id: int) -> Document:
        """Return an import as the API describes it."""
        return self._api.request("GET", f"/imports/{import_id}")

    def _read_volume(self) -> Document:
        return self._api.request("GET", f"/volumes/{self.volume_id}")

    def _request_import(self) -> None:
        settings = {"dryRun": self._request.is_check, **self._request.settings}
        body = {**settings, "options": self._request.options, "profile": self._request.profile}
        self._api.request("POST", f"/volumes/{self.volume_id}/import", body)

    def _create(self, **archive: Any) -> Document:
        body = {"case": self._request.case, "name": self._request.source.name, **archive}
        volume = self._api.request("POST", "/volumes", body)
        self.volume_id = int(volume["id"])
        return volume

    def _send_zip(self, source: Source) -> None:
        memory, changed = UploadMemory(self._stack.state_dir), source.path.stat().st_mtime_ns
        file = LocalFile(source.path.name, source.path, source.size, changed)
        content = identify_content([file], self._request.tenant, self._request.case)
        found = self._find_open(memory.find_upload(content))
        archive = {"fileName": source.path.name, "size": source.size, "inParts": True}
        self.volume_id = int((found or self._create(archive=archive))["id"])
        memory.begin_upload(content, Upload(self.volume_id, self._read_volume()["createdAt"]))
        self._on_progress(f"sending {source.size:,} bytes", 0, 0)
        send_missing(urllib3.PoolManager(), source.path, self._read_upload)
        self._request_import()
        memory.end_upload(content)

    def _read_upload(self) -> Document:
        return self._api.request("GET", f"/volumes/{self.volume_id}/upload")

    def _send_folder(self, source: Source) -> None:
        memory = UploadMemory(self._stack.state_dir)
        content = identify_content(source.files, self._request.tenant, self._request.case)
        found = self._find_open(memory.find_upload(content))
        try:
            self._send_files(source, memory, content, found or self._create())
        except ConflictError:
            if found is None:
                raise
            # The files have the sizes and times of those that were sent, and other bytes, which no object can get.
            self._send_files(source, memory, content, self._create())
        self.sent = None
        self._request_import()
        memory.end_upload(content)

    def _send_files(self, source: Source, memory: UploadMemory, content: str, volume: Document) -> None:
        self.volume_id = int(volume["id"])
        memory.begin_upload(content, Upload(self.volume_id, self._read_volume()["createdAt"]))
        self._show_sent(0, 0)
        sender = FileSender(self._api, self._stack, volume, self._show_sent)
        sender.send(source.files, list_sent(self._stack, volume["prefix"]))

    def _show_sent(self, files: int, sent_bytes: int) -> None:
        source = self._request.source
        counts = f"{files:,}/{len(source.files):,} files, {sent_bytes:,}/{source.size:,} bytes sent"
        self.sent = f"{files:,} of {len(source.files):,} files, {sent_bytes:,} of {source.size:,} bytes"
        self._on_progress(counts, files, len(source.files))

    def _find_open(self, upload: Upload | None) -> Document | None:
        """Return the volume of an earlier command that was interrupted, if files can still be added to it."""
        if upload is None:
            return None
        try:
            volume = self._api.request("GET", f"/volumes/{upload.volume}")
        except LocalError:
            # Of another database.
            return None
        return volume if (volume["status"], volume["createdAt"]) == ("open", upload.created) else None

    def _wait(self) -> Document:
        last, changed = "", time.monotonic()
        while True:
            volume = self._read_volume()
            text, done, total = _describe(volume)
            self._on_progress(text, done, total)
            if volume["status"] in _ENDS:
                return volume
            if text != last or not self._stack.is_idle():
                last, changed = text, time.monotonic()
            if time.monotonic() - changed > STALLED_SECONDS:
                raise ImportStalledError(
                    f"the volume has stalled ({text}); see the logs in {self._stack.log_directory}"
                )
            self._stack.wait_for_activity(_POLL_SECONDS)


def _describe(volume: Document) -> tuple[str, int, int]:
    steps = {"expanding": "expanding the zip", "hashing": "hashing the files"}
    if volume["status"] in steps:
        done = volume["units"] - volume["unitsLeft"]
        return f"{steps[volume['status']]}: {done:,}/{volume['units']:,} parts", done, volume["units"]
    if volume["status"] in _ENDS:
        return f"{volume['files']:,} files", 1, 1
    return "listing the files", 0, 0
