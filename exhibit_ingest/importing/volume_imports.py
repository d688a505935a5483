"""The imports of one folder or zip into one stack, with their progress on standard error.

Guaranteed: an interruption cancels those that run. Without the stack, the volume fails with its error.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exhibit_ingest.errors import CommandError
from exhibit_ingest.importing.bates import read_bates
from exhibit_ingest.importing.cancellation import INTERRUPTED, call_in_time, cancel_import, describe_cancelled
from exhibit_ingest.importing.display import FileProgress, ProgressDisplay, open_display
from exhibit_ingest.importing.file_imports import describe_session
from exhibit_ingest.importing.options import build_api_options
from exhibit_ingest.importing.result import ImportResult, build_result, keep_profile, read_result
from exhibit_ingest.importing.state import ImportState
from exhibit_ingest.importing.volume_sender import ImportPlace, VolumeRequest, VolumeSender
from exhibit_ingest.importing.waiting import wait_for_import
from exhibit_ingest.volumes.output import build_figures, describe_sent
from exhibit_ingest.volumes.survey import Source

if TYPE_CHECKING:
    from exhibit_ingest.import_request import ImportRequest
    from exhibit_ingest.session.session import Session

_ROWS, _LOST = "rows", "SOURCE_GONE"
_AGAIN = "Run the command again: nothing is sent twice."
_GOES_ON = "The stack goes on with the volume, and its imports begin by themselves."


@dataclass
class VolumeOutcome:
    """What is known of a volume: the results of its imports, its figures, and the error that ended it.

    `archives` are those at the top of a folder; `place` are the options that name the stack in commands.
    """

    results: list[ImportResult] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=lambda: build_figures(None, []))
    error: str | None = None
    archives: list[str] = field(default_factory=list)
    place: Sequence[str] = ()


def import_volume_into(
    session: Session, request: ImportRequest, settings: dict[str, str], source: Source, outcome: VolumeOutcome
) -> None:
    """Import or check the volume in a stack, and add to the outcome what is known of it, also after an error.

    Raises CommandError, OSError, and KeyboardInterrupt after its imports are cancelled and have results.
    """
    outcome.place = session.name_options()
    with open_display(as_json=request.json) as display:
        describe_session(session, request, display)
        _VolumeImport(session, request, display, outcome).run(source, settings)


class _VolumeImport:
    def __init__(
        self, session: Session, request: ImportRequest, display: ProgressDisplay, outcome: VolumeOutcome
    ) -> None:
        self._session, self._request, self._display, self._outcome = session, request, display, outcome
        self._places: list[ImportPlace] = []
        self._seconds: defaultdict[ImportPlace, float] = defaultdict(float)

    def run(self, source: Source, settings: dict[str, str]) -> None:
        sender = self._build_sender(source, settings)
        try:
            volume = sender.send()
            self._places = sender.list_imports()
            self._wait_for_all()
            sender.end()
        except KeyboardInterrupt as interruption:
            self._cancel(sender, interruption)
            raise
        results = self._outcome.results
        if any(result.state and result.state.failure_code == _LOST for result in results):
            sender.forget()
            self._outcome.error = "The storage has lost the files. Run the command again: it sends them anew."
        self._outcome.figures = build_figures(volume, [result.details for result in results])

    def _build_sender(self, source: Source, settings: dict[str, str]) -> VolumeSender:
        request, line = self._request, self._display.add_file(source.name)
        place = (source, request.case, build_api_options(request.options), settings)
        volume_request = VolumeRequest(*place, request.is_check, request.profile, request.limit_rate)
        return VolumeSender(self._session, volume_request, line.show_upload, line.show_step, self._say_continued)

    def _say_continued(self) -> None:
        self._display.warn(f"{self._request.files[0].name}: the import of an earlier command goes on")

    def _wait_for_all(self) -> None:
        lines = [self._display.add_file(place.path, is_check=self._request.is_check) for place in self._places]
        for place, line in zip(self._places, lines, strict=True):
            self._watch(place, line)
        # Of several image load files, the first are completed again when the last one has ended.
        for place, line in zip(self._places, lines, strict=True):
            self._outcome.results.append(self._build_result(place, self._watch(place, line)))

    def _watch(self, place: ImportPlace, line: FileProgress) -> ImportState:
        began = time.monotonic()
        state = wait_for_import(self._session, place.id, line.show, self._display.show_failures)
        self._seconds[place] += time.monotonic() - began
        return state

    def _build_result(self, place: ImportPlace, state: ImportState) -> ImportResult:
        source = self._request.files[0]
        result = build_result(self._session, Path(place.path), state, self._seconds[place], source)
        if place.kind != _ROWS:
            return result
        result = replace(result, bates=read_bates(self._session, state))
        return keep_profile(self._session, self._request, result, self._display)

    def _cancel(self, sender: VolumeSender, interruption: KeyboardInterrupt) -> None:
        """Cancel the imports that run; note on the interruption, and in the outcome, what is in or what is sent."""
        self._outcome.error = INTERRUPTED
        if sender.volume_id is None:
            interruption.add_note(describe_sent(sender.sent))
            return
        self._display.warn("Interrupted. Cancelling the imports ...")
        try:
            call_in_time(lambda: self._cancel_imports(sender, interruption.add_note))
        except (CommandError, OSError) as exc:
            interruption.add_note(f"{exc}.".replace("..", "."))
        interruption.add_note(_AGAIN)

    def _cancel_imports(self, sender: VolumeSender, note: Callable[[str], None]) -> None:
        places = self._places or sender.list_imports()
        for place in places:
            note(f"{place.path}: {self._cancel_import(place)}")
        if places:
            sender.end()
        else:
            note(_GOES_ON)

    def _cancel_import(self, place: ImportPlace) -> str:
        """Cancel an import unless it has ended, add its result unless it has one, and return what is in."""
        state = cancel_import(self._session, place.id)
        described, results = describe_cancelled(state), self._outcome.results
        if all(result.state is None or result.state.id != place.id for result in results):
            error = f"{INTERRUPTED}; {described}" if state.failed or not state.ended else None
            source, seconds = self._request.files[0], self._seconds[place]
            results.append(read_result(self._session, Path(place.path), state, seconds, error, source))
        return described
