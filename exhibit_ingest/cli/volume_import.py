"""`exhibit-ingest import` and `check` of a folder or zip: send it, wait for its imports, print the result."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from core.imports.columns.report import describe_columns
from exhibit_ingest.cli.arguments import DEFAULT_WORKERS
from exhibit_ingest.cli.cancellation import Stack, cancel_import, describe_cancelled, describe_database
from exhibit_ingest.cli.check_results import choose_exit_code, format_checks_json, print_checks
from exhibit_ingest.cli.import_journal import ImportJournal, RunningImport
from exhibit_ingest.cli.import_session import (
    SERVICE_ERRORS,
    describe_failure,
    describe_service_error,
    enter_stack,
    find_corrected,
    keep_profile,
    read_details,
)
from exhibit_ingest.cli.import_status import ImportProgress, ImportProgressReader
from exhibit_ingest.cli.progress import FileProgress, ProgressDisplay
from exhibit_ingest.cli.report_download import download_reports
from exhibit_ingest.cli.signals import Interrupted
from exhibit_ingest.cli.summary import ImportResult, build_console, format_json, print_table
from exhibit_ingest.cli.upload_and_wait import wait_for_import
from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.volumes.output import build_figures, describe_lost_files, describe_sent, print_figures
from exhibit_ingest.volumes.path_lines import describe_archives
from exhibit_ingest.volumes.several import COUNTS, SeveralVolumes, VolumeResult, Volumes, list_volumes
from exhibit_ingest.volumes.survey import Source, survey_volume
from exhibit_ingest.volumes.volume_session import ImportPlace, VolumeRequest, VolumeSender
from local.errors import LocalError, StackBusyError, UsageError
from local.services.disk_space import check_disk_space, temporary_folder
from local.stack import LocalStack

_ROWS = "rows"
_AGAIN = "Run the command again; if imports had begun, with --mode append_overlay"


@dataclass
class VolumeOutcome:
    """What is known of a volume: the results of its imports, its figures, and the error that ended it.

    `keeps_files` is false if the bucket ends with the command. `archives` are those at the top of the volume.
    """

    results: list[ImportResult] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=lambda: build_figures(None, []))
    error: str | None = None
    keeps_files: bool = True
    archives: list[str] = field(default_factory=list)


def import_volumes(workspace: Workspace, request: ImportRequest, settings: dict[str, str]) -> int:
    """Import or check the volumes of the request in order, print the results, and return the exit code.

    An interruption cancels the imports that run, and is raised again. Raises UsageError for a case that does not exist
    and is similar to others, and StackBusyError when another command uses the state directory, unless the result is
    printed as JSON.
    """
    found = _list_volumes(request, settings)
    if len(found.paths) == 1:
        return _import_volume(workspace, request, settings)

    def run_one(path: Path) -> VolumeResult:
        one = replace(request, files=[path])
        outcome = run_volume(workspace, one, settings)
        if not request.json:
            _print_outcome(outcome, one, settings)
        states: list[Any] = [result.state for result in outcome.results if result.state]
        counts = [sum(getattr(state, name) for state in states) for name in COUNTS]
        return VolumeResult(_choose_code(outcome, one), _build_document(outcome, one), len(outcome.results), counts)

    place = (request.tenant, request.case, settings)
    return SeveralVolumes(found, *place, run_one, request.json).run(build_console(sys.stdout))


def _list_volumes(request: ImportRequest, settings: dict[str, str]) -> Volumes:
    try:
        return list_volumes(request.files, settings)
    except (LocalError, OSError):
        # What is wrong with a single volume is printed as its result.
        if len(request.files) > 1:
            raise
        return Volumes([*request.files], [])


def _import_volume(workspace: Workspace, request: ImportRequest, settings: dict[str, str]) -> int:
    outcome = run_volume(workspace, request, settings)
    if request.json:
        print(json.dumps(_build_document(outcome, request), ensure_ascii=False, indent=2))
    else:
        _print_outcome(outcome, request, settings)
    return _choose_code(outcome, request)


def run_volume(workspace: Workspace, request: ImportRequest, settings: dict[str, str]) -> VolumeOutcome:
    """Import or check the volume, and return what is known of it. Raises what `import_volumes` raises."""
    outcome = VolumeOutcome()
    try:
        source = survey_volume(request.files[0], request.tenant, request.case, settings)
        outcome.archives = source.archives
        with contextlib.closing(workspace.connect(request.workers or DEFAULT_WORKERS)) as stack:
            outcome.keeps_files = not isinstance(stack, LocalStack)
            import_volume_into(stack, request, settings, source, outcome)
    except UsageError:
        raise
    except (LocalError, OSError) as exc:
        if isinstance(exc, StackBusyError) and not request.json:
            raise
        outcome.error = str(exc)
    return outcome


def import_volume_into(
    stack: Stack, request: ImportRequest, settings: dict[str, str], source: Source, outcome: VolumeOutcome
) -> None:
    """Import or check the volume in a stack, and add to the outcome what is known of it, also after an error.

    Raises Interrupted and UsageError, as `import_volumes` does.
    """
    console = Console(stderr=True, highlight=False, emoji=False, force_terminal=False if request.json else None)
    try:
        with ProgressDisplay(console) as display, enter_stack(stack, request, display) as (states, _):
            # S3 is on this machine.
            check_disk_space(temporary_folder(), source.size)
            _VolumeImport(stack, states, request, display, outcome).run(source, settings)
    except UsageError:
        raise
    except (*SERVICE_ERRORS, OSError) as exc:
        outcome.error = describe_service_error(exc)


class _VolumeImport:
    def __init__(
        self,
        stack: Stack,
        states: ImportProgressReader,
        request: ImportRequest,
        display: ProgressDisplay,
        outcome: VolumeOutcome,
    ) -> None:
        self._stack, self._states, self._request = stack, states, request
        self._display, self._outcome = display, outcome
        self._places: list[ImportPlace] = []
        self._seconds: defaultdict[ImportPlace, float] = defaultdict(float)
        self._ended: list[Callable[[], None]] = []

    def run(self, source: Source, settings: dict[str, str]) -> None:
        options = {name: value for name, value in self._request.options.items() if name != "dry_run"}
        place = (source, self._request.tenant, self._request.case, options, settings)
        volume_request = VolumeRequest(*place, is_check=self._request.is_check, profile=self._request.profile)
        sender = VolumeSender(self._stack, volume_request, self._display.add_file(source.name).show_step)
        try:
            volume = sender.send()
            self._places = sender.list_imports()
            self._wait_for_all()
        except Interrupted as interruption:
            self._cancel(sender, interruption)
            raise
        self._outcome.figures = build_figures(volume, [sender.read_import(place.id) for place in self._places])

    def _wait_for_all(self) -> None:
        """Wait for the imports in their order; the next command finds those of one that is killed meanwhile."""
        journal = ImportJournal(self._stack.state_dir)
        with contextlib.ExitStack() as running:
            self._ended = [running.enter_context(journal.record(self._get_upload(place))) for place in self._places]
            lines = [self._display.add_file(place.path, is_check=self._request.is_check) for place in self._places]
            for place, line in zip(self._places, lines, strict=True):
                self._watch(place, line)
            # Of several image load files, the first are completed again when the last one has ended.
            for place, line in zip(self._places, lines, strict=True):
                self._outcome.results.append(self._wait(place, line))
        self._leave_journal()

    def _leave_journal(self) -> None:
        for has_ended in self._ended:
            has_ended()

    def _get_upload(self, place: ImportPlace) -> RunningImport:
        where = (self._stack.bucket, place.key, describe_database(self._stack))
        return RunningImport(place.path, self._request.tenant, *where)

    def _wait(self, place: ImportPlace, line: FileProgress) -> ImportResult:
        state = self._watch(place, line)
        result = self._build_result(place, state, self._seconds[place])
        return keep_profile(self._stack, self._request, result, self._display) if place.kind == _ROWS else result

    def _watch(self, place: ImportPlace, line: FileProgress) -> ImportProgress:
        def on_state(state: ImportProgress | None) -> None:
            line.show(state)
            self._display.show_failures(self._stack.failures())

        began = time.monotonic()
        state = wait_for_import(self._stack, partial(self._states.find, self._stack.bucket, place.key), on_state)
        self._seconds[place] += time.monotonic() - began
        return state

    def _build_result(self, place: ImportPlace, state: ImportProgress, seconds: float) -> ImportResult:
        file, source = Path(place.path), self._request.files[0]
        if state.failed:
            return ImportResult(file, state, describe_failure(state), seconds, source=source)
        reports = download_reports(self._stack, self._get_upload(place), state)
        codes, layout, pages, _ = read_details(self._states, state)
        is_read = layout is not None and place.kind == _ROWS
        columns = describe_columns(layout) if layout and is_read else []
        mode = layout.load_mode.mode if layout and is_read else None
        found = (reports, codes, columns)
        result = ImportResult(file, state, None, seconds, *found, mode=mode, pages=pages, source=source)
        return replace(result, corrects=find_corrected(state, layout))

    def _cancel(self, sender: VolumeSender, interruption: Interrupted) -> None:
        """Cancel the imports that run, and note on the interruption what is in, or what of the files is sent."""
        if sender.sent is not None:
            interruption.add_note(describe_sent(sender.sent, kept=not isinstance(self._stack, LocalStack)))
            return
        self._display.warn("Interrupted. Cancelling the imports ...")
        try:
            # The interruption may have left the other connection in the middle of an answer.
            with ImportProgressReader(self._stack.database_url) as states:
                for place in self._places or sender.list_imports():
                    state = cancel_import(self._stack, states, self._get_upload(place))
                    interruption.add_note(f"{place.path}: {describe_cancelled(state)}")
            self._leave_journal()
        except (*SERVICE_ERRORS, OSError) as exc:
            interruption.add_note(f"{describe_service_error(exc)}.")
        interruption.add_note(_AGAIN)


def _print_outcome(outcome: VolumeOutcome, request: ImportRequest, settings: Mapping[str, str]) -> None:
    print_volume(outcome, request, settings)
    if outcome.results and not (request.is_check or outcome.keeps_files):
        print(describe_lost_files(request.files[0].name))


def _choose_code(outcome: VolumeOutcome, request: ImportRequest) -> int:
    if outcome.error or not outcome.results:
        return FAILED
    if request.is_check:
        return choose_exit_code(outcome.results)
    if any(result.failed or result.is_profile_refused for result in outcome.results):
        return FAILED
    return REJECTED if any(result.state and result.state.rejected for result in outcome.results) else DONE


def _build_document(outcome: VolumeOutcome, request: ImportRequest) -> dict[str, Any]:
    described = format_checks_json(outcome.results) if request.is_check else format_json(outcome.results)
    return {"volume": outcome.figures["volume"], **json.loads(described), **outcome.figures, "error": outcome.error}


def print_volume(outcome: VolumeOutcome, request: ImportRequest, settings: Mapping[str, str]) -> None:
    """Print the results of the imports, what was found of files and pages, and the error that ended it."""
    if outcome.results and request.is_check:
        has_options = bool(request.options.keys() - {"dry_run"} or settings or request.profile)
        print_checks(outcome.results, request.case, request.tenant, sys.stdout, has_options=has_options)
    elif outcome.results:
        print_table(outcome.results, request.case, request.tenant, sys.stdout)
    print_figures(outcome.figures, build_console(sys.stdout), is_check=request.is_check)
    for line in describe_archives((outcome.figures["files"] or {}).get("paths", []), outcome.archives):
        print(line)
    if outcome.error:
        print(f"exhibit-ingest: error: {outcome.error}", file=sys.stderr)
