"""Send one folder or zip as a volume, have it imported or checked, and wait until it is ready.

Guaranteed: what the storage has of a folder or zip is not sent twice, on another day neither: not after an
interruption, not for an import after its check, not for another import with other options. The import of a command that
was killed goes on, and the same command waits for it, and for no import of another request: none is requested twice.
If the journal does not say whether it was, a command says what to look at. Not guaranteed: that a file
is sent again which was changed and has its size and time of before, once the volume takes no files any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.importing.options import explain_refusal
from exhibit_ingest.program import format_command
from exhibit_ingest.session.following import Clock, Work, check_machine, follow
from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folders import Folder
from exhibit_ingest.uploads.journal import Journal, Record
from exhibit_ingest.uploads.uploads import Sent, Uploads
from exhibit_ingest.volumes.arguments import name_arguments
from exhibit_ingest.volumes.survey import Source

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session
    from exhibit_ingest.uploads.protocols import OnProgress, Progress

_BUSY = re.compile(r"Import (\d+) of the volume has not ended")
_REFUSED = ("invalid-request", "wrong-state", "not-found", "forbidden")
_ENDS = ("ready", "failed")
_STEPS = {"expanding": "expanding the zip", "hashing": "hashing the files"}
Document = dict[str, Any]
# What is done, how much of it, of how much; 0 of 0 where that is not known.
OnStep = Callable[[str, int, int], None]


@dataclass(frozen=True)
class VolumeRequest:
    """A folder or zip to import or check, and how; `settings` are members of the request to import a volume."""

    source: Source
    case: str
    options: dict[str, Any]
    settings: dict[str, str] = field(default_factory=dict)
    is_check: bool = False
    profile: str | None = None
    limit_rate: int | None = None


class ImportPlace(NamedTuple):
    """An import of a volume: its number, whether it is of rows or images, and its load file."""

    id: int
    kind: str
    path: str


class VolumeSender:
    """Sends a volume to a stack, and waits until it is ready; `volume_id` is None until all of it is there.

    `sent` says what of it was sent, until all is; None before and after. `on_continued` is called if an earlier command
    has requested the import, which goes on.
    """

    def __init__(
        self,
        session: Session,
        request: VolumeRequest,
        on_upload: OnProgress,
        on_step: OnStep,
        on_continued: Callable[[], None] = lambda: None,
        clock: Clock | None = None,
    ) -> None:
        self._session, self._request, self._on_upload, self._on_step = session, request, on_upload, on_step
        self._on_continued, self._clock = on_continued, clock or Clock()
        self.volume_id: int | None = None
        self.sent: str | None = None
        self._sent: Sent | None = None

    def send(self) -> Document:
        """Send all files, request the import, and return the volume once it is ready.

        Raises CommandError with what is wrong and what to do, WrongUsageError for an option, OSError for a file.
        """
        sent = self._send()
        try:
            self._request_import(sent)
        except ApiError as error:
            if error.code == "invalid-request":
                raise WrongUsageError(explain_refusal(name_arguments(str(error)))) from error
            if error.code == "wrong-state" and (busy := _BUSY.search(str(error))):
                raise CommandError(self._explain_busy(error, busy[1])) from error
            raise
        volume = self._wait_for_own(sent.record)
        if sent.record.entry.imports is None:
            self.end()
            raise CommandError(name_arguments(f"{volume['failureCode']}: {volume['failureMessage']}"))
        return volume

    def forget(self) -> None:
        """Have the next command send all files anew: the storage has lost them."""
        if self._sent:
            self._sent.close()

    def end(self) -> None:
        """Have the next command request the import anew: its result is known, or it is cancelled."""
        if self._sent:
            self._sent.record.end_act()

    def _explain_busy(self, error: ApiError, number: str) -> str:
        """Return why another import of the volume is refused, and how to end the one that runs."""
        cancel = format_command("cancel", number, *self._session.name_options())
        return f"{str(error).removesuffix('.')}: {cancel}. It has other options than this command."

    def list_imports(self) -> list[ImportPlace]:
        """Return the imports of the volume's last request, that of rows before those of images."""
        entry = self._sent.record.entry if self._sent else None
        if entry is None or entry.earlier is None:
            return []
        volume = self._read()
        own = entry.imports
        if own is None and volume["generation"] != entry.generation:
            return []
        # The imports of a request are created in this order.
        found = sorted(ImportPlace(each["id"], each["kind"], each["path"]) for each in volume["imports"])
        return [each for each in found if (each.id not in entry.earlier if own is None else each.id in own)]

    def _send(self) -> Sent:
        source, uploads = self._request.source, self._connect()
        body = {"case": self._request.case, "name": source.name}
        content = source.content
        try:
            # The entry of the journal stays: it leads from the folder to its volume.
            sent = (
                uploads.send_folder(content, body) if isinstance(content, Folder) else uploads.send_zip(content, body)
            )
        except UploadFault as fault:
            check_machine(self._session.machine)
            raise CommandError(name_arguments(str(fault))) from fault
        self.volume_id, self.sent, self._sent = sent.number, None, sent
        return sent

    def _connect(self) -> Uploads:
        session, names = self._session, self._request.settings.get("zipNames", "")
        # A zip that is listed keeps its names.
        place = f"{session.stack} {session.me['tenantId']} {names}"
        limit, show = self._request.limit_rate, self._show_sent
        return Uploads(session.api, place, Journal(session.folder), session.storage, limit, on_progress=show)

    def _show_sent(self, progress: Progress) -> None:
        done = f"{progress.files_done:,} of {progress.files:,} files, " if progress.files > 1 else ""
        self.sent = f"{done}{progress.bytes_done:,} of {progress.bytes:,} bytes"
        self._on_upload(progress)

    def _request_import(self, sent: Sent) -> None:
        """Request the import, unless a request of an earlier command was answered. Raises CommandError."""
        request, record = self._request, sent.record
        body: Document = {"dryRun": request.is_check, **request.settings, "options": request.options}
        if request.profile is not None:
            body["profile"] = request.profile
        key, is_continued = record.begin_act(body)
        if record.entry.earlier is None:
            if is_continued and not record.entry.may_repeat():
                self._check_never_imported()
            try:
                volume = self._session.api.request("POST", f"/volumes/{self.volume_id}/import", body, key)
            except ApiError as error:
                # The request that was answered before is answered again: what is refused was never begun.
                if error.code in _REFUSED:
                    self.end()
                raise
            record.name_request(volume["generation"], [each["id"] for each in volume["imports"]])
        if is_continued:
            self._on_continued()

    def _check_never_imported(self) -> None:
        """Raise CommandError unless the volume was never imported: the stack may have ended the key of the request."""
        if self._read()["status"] == "open":
            return
        self.end()
        listing = format_command("imports", "--case", self._request.case, *self._session.name_options())
        raise CommandError(
            "An earlier command may have requested this import, more than a day ago. Look at its result, so that"
            f" nothing is imported twice: {listing}. To import the volume again all the same, run the command again."
        )

    def _wait_for_own(self, record: Record) -> Document:
        """Return the volume once it has the imports of the request, and store which these are. Raises CommandError."""
        if record.entry.imports is not None:
            return self._read()
        volume = self._wait()
        if volume["generation"] != record.entry.generation:
            self.end()
            listing = format_command("imports", "--case", self._request.case, *self._session.name_options())
            raise CommandError(
                "Another command has requested an import of the volume since, so that it is not known which imports are"
                f" those of this one. Look at them: {listing}. Then run the command again to import the volume again."
            )
        if volume["status"] == "ready":
            known = set(record.entry.earlier or [])
            record.name_imports([each["id"] for each in volume["imports"] if each["id"] not in known])
        return volume

    def _read(self) -> Document:
        return self._session.api.request("GET", f"/volumes/{self.volume_id}")

    def _wait(self) -> Document:
        def show(volume: Document) -> None:
            self._on_step(*_describe_step(volume))

        def explain(volume: Document) -> str:
            return f"It is {_describe_step(volume)[0]}. Run the command again: nothing is sent twice."

        work = Work(f"Volume {self.volume_id}", self._read, _is_over, show, explain)
        return follow(self._session.machine, work, self._clock)


def _is_over(volume: Document) -> bool:
    return volume["status"] in _ENDS


def _describe_step(volume: Document) -> tuple[str, int, int]:
    """Return what the stack does with a volume, how much of it is done, and of how much; 0 of 0 if not known."""
    if step := _STEPS.get(volume["status"]):
        done, units = volume["units"] - volume["unitsLeft"], volume["units"]
        return f"{step}: {done:,}/{units:,} parts", done, units
    if volume["status"] in _ENDS:
        return f"{volume['files']:,} files", 1, 1
    return "listing the files", 0, 0
