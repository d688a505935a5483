"""Send a file, a zip or a folder to a stack, or go on with what an earlier command began.

Guaranteed: whatever ends a command (Ctrl-C, a kill, a power cut), the same command goes on with the same import or
volume, on another day too, and sends only what the storage does not have; a file that was changed since begins another
one, so that its bytes are never mixed with older ones. The memory does not grow with the bytes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import httpx

from exhibit_ingest.uploads.announcing import Place
from exhibit_ingest.uploads.connection import Pace
from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folder_upload import FolderUpload
from exhibit_ingest.uploads.folders import Folder
from exhibit_ingest.uploads.journal import Journal, Record
from exhibit_ingest.uploads.limits import RateLimit
from exhibit_ingest.uploads.local_files import FileSource, LocalFile, fingerprint_file
from exhibit_ingest.uploads.object_upload import ObjectUpload
from exhibit_ingest.uploads.pack import Archive
from exhibit_ingest.uploads.protocols import Api, Document, OnProgress, show_nothing
from exhibit_ingest.uploads.storage import Storage
from exhibit_ingest.uploads.targets import Source, make_archive_target, make_import_target
from exhibit_ingest.uploads.task_queue import Queue
from exhibit_ingest.uploads.tasks import Context, Plan, Task, UploadFailedError, do_nothing

# A folder of more files is sent as one zip.
MOST_FILES = 2_000
# The problem of the API for a path that was declared with another hash.
_DECLARED = "already-exists"


@dataclass(frozen=True)
class Sent:
    """The number of the import or volume whose files are in the bucket.

    Call `close` once what follows has been requested: until then, the same command finds this upload again. `record`
    is its entry in the journal. `is_earlier` says that an earlier command had sent all of it.
    """

    number: int
    record: Record
    is_earlier: bool = False

    def close(self) -> None:
        """Delete the entry."""
        self.record.remove()


@dataclass(frozen=True)
class Uploads:
    """Sends to one stack, whose name or address is `stack`. `limit_rate` is in bytes a second.

    `http` sends to the storage, never to the API: it has no token.
    """

    api: Api
    stack: str
    journal: Journal
    http: httpx.Client
    limit_rate: int | None = None
    on_progress: OnProgress = show_nothing
    pace: Pace = field(default_factory=Pace)
    stall_s: float = 60.0

    def send_import(self, file: LocalFile, request: Document) -> Sent:
        """Send a load file; `request` are members of POST /imports but for name, size and parts.

        Raises UploadFault for what needs a person, such as a file that another command is sending; OSError; and what
        the API raises for a sign-in.
        """
        body = {**request, "fileName": file.path, "size": file.size, "inParts": True}
        record = self.journal.open(self.stack, "/imports", body, fingerprint_file(file))
        return self._send_object(FileSource(file), record, Place(self.api, "/imports", body))

    def send_zip(self, file: LocalFile, request: Document) -> Sent:
        """Send a zip as a volume; `request` are members of POST /volumes but for the zip. Raises as `send_import`."""
        return self._send_archive(FileSource(file), request, fingerprint_file(file))

    def send_folder(self, folder: Folder, request: Document) -> Sent:
        """Send a folder as a volume: up to 2,000 files one by one, more as one zip. Raises as `send_import`."""
        if len(folder) > MOST_FILES:
            return self._send_archive(Archive(folder, f"{request['name']}.zip"), request, folder.fingerprint())
        record = self.journal.open(self.stack, "/volumes", request, folder.fingerprint())
        place = Place(self.api, "/volumes", request)

        def begin(context: Context) -> None:
            announced = place.announce(record)
            sending = FolderUpload(self.api, folder, announced.number).begin() if announced.is_taking else there
            context.add([sending])
            is_earlier[0] = not announced.is_taking

        plan, is_earlier = Plan(len(folder), folder.size, Task("", begin)), [False]
        there = Task("", do_nothing, plan.files, plan.bytes)
        try:
            sent = self._run(plan, record)
            return replace(sent, is_earlier=is_earlier[0])
        except UploadFailedError as failed:
            if all(fault.code != _DECLARED for fault in failed.failures.values()):
                raise
            # A file has the size and the time of the one that was sent, and other bytes, which no object can get.
            record.renew()
            return self._run(plan, record)

    def _send_archive(self, source: Source, request: Document, fingerprint: str) -> Sent:
        body = {**request, "archive": {"fileName": source.path, "size": source.size, "inParts": True}}
        record = self.journal.open(self.stack, "/volumes", body, fingerprint)
        return self._send_object(source, record, Place(self.api, "/volumes", body))

    def _send_object(self, source: Source, record: Record, place: Place) -> Sent:
        make_target = make_import_target if place.route == "/imports" else make_archive_target

        def begin(context: Context) -> None:
            announced = place.announce(record)
            target = make_target(self.api, announced.number, announced.urls)
            sending = ObjectUpload(source, target).begin(context.clock()) if announced.is_taking else there
            context.add([sending])
            is_earlier[0] = not announced.is_taking

        plan, is_earlier = Plan(source.files, source.size, Task(source.path, begin)), [False]
        there = Task(source.path, do_nothing, plan.files, plan.bytes)
        sent = self._run(plan, record)
        return replace(sent, is_earlier=is_earlier[0])

    def _run(self, plan: Plan, record: Record) -> Sent:
        storage = Storage(self.http, RateLimit(self.limit_rate), self.stall_s)
        with record.hold():
            Queue(storage, self.pace, time.monotonic).run(plan, self.on_progress)
        if record.entry.number is None:
            raise UploadFault("final", "UNEXPECTED", "The API returned no number of the upload.")
        return Sent(record.entry.number, record)
