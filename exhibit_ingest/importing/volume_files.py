"""`exhibit-ingest import` and `check` of folders and zips: one after another, then print the results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import FAILED
from exhibit_ingest.importing.check_results import build_check_entry, print_checks
from exhibit_ingest.importing.expectations import count_found, describe_found, list_differences, print_differences
from exhibit_ingest.importing.files import ENDED, choose_exit_code
from exhibit_ingest.importing.result import ImportResult
from exhibit_ingest.importing.summary import build_console, build_entry, print_table
from exhibit_ingest.importing.volume_imports import VolumeOutcome, import_volume_into
from exhibit_ingest.importing.volume_sender import Document
from exhibit_ingest.session.output import format_json
from exhibit_ingest.volumes.arguments import build_settings
from exhibit_ingest.volumes.output import print_figures
from exhibit_ingest.volumes.path_lines import describe_archives
from exhibit_ingest.volumes.several import COUNTS, SeveralVolumes, VolumeResult, Volumes, list_volumes
from exhibit_ingest.volumes.survey import survey_volume

if TYPE_CHECKING:
    from exhibit_ingest.import_request import ImportRequest
    from exhibit_ingest.session.session import Context, Session


def import_volumes(request: ImportRequest, options: argparse.Namespace, context: Context) -> int:
    """Import or check the volumes of the request in order, print the results, and return the exit code.

    An interruption cancels the imports that run, and is raised again after the results so far are printed. Raises
    WrongUsageError for a case that does not exist and is similar to others, and for an option that is wrong.
    """
    settings = build_settings(options)
    found = _list_volumes(request, settings)
    with ExitStack() as running:

        @cache
        def open_session() -> Session:
            return running.enter_context(context.open(options, workers=request.workers, may_be_new=True, ended=ENDED))

        if len(found.paths) > 1:
            return _import_several(request, settings, found, open_session)
        outcome = VolumeOutcome()
        try:
            _run_volume(request, settings, open_session, outcome)
        except KeyboardInterrupt:
            _report(outcome, request, settings)
            raise
        # Here, because the stack of this machine takes a while to stop.
        code = _report(outcome, request, settings)
        sys.stdout.flush()
    return code


def _report(outcome: VolumeOutcome, request: ImportRequest, settings: dict[str, str]) -> int:
    """Print what is known of a volume, and return the exit code."""
    differences = list_differences(request.expected, outcome.results)
    if request.json:
        document = _build_document(outcome, request) | _build_differences(outcome.results, request)
        print(format_json(document))
    else:
        _print_volume(outcome, request, settings)
        print_differences(differences, sys.stdout)
    return FAILED if differences else _choose_code(outcome, request)


def _list_volumes(request: ImportRequest, settings: dict[str, str]) -> Volumes:
    try:
        return list_volumes(request.files, settings)
    except WrongUsageError:
        raise
    except CommandError:
        # What is wrong with a single volume is printed as its result.
        if len(request.files) > 1:
            raise
        return Volumes([*request.files], [])


def _import_several(
    request: ImportRequest, settings: dict[str, str], found: Volumes, open_session: Callable[[], Session]
) -> int:
    results = list[ImportResult]()

    def run_one(path: Path, add: Callable[[VolumeResult], None]) -> None:
        one, session, outcome = replace(request, files=[path]), open_session(), VolumeOutcome()

        def end() -> None:
            results.extend(outcome.results)
            if not request.json:
                _print_volume(outcome, one, settings)
            add(_sum_up(outcome, one))

        try:
            _run_volume(one, settings, lambda: session, outcome)
        except KeyboardInterrupt:
            end()
            raise
        end()

    several = SeveralVolumes(found, settings, run_one, request.json, lambda: _build_differences(results, request))
    code = several.run(build_console(sys.stdout))
    differences = list_differences(request.expected, results)
    if not request.json:
        print_differences(differences, sys.stdout)
    return FAILED if differences else code


def _sum_up(outcome: VolumeOutcome, request: ImportRequest) -> VolumeResult:
    states = [result.state for result in outcome.results if result.state]
    counts = [sum(getattr(state, name) for state in states) for name in COUNTS]
    document = _build_document(outcome, request)
    return VolumeResult(_choose_code(outcome, request), document, len(outcome.results), counts)


def _run_volume(
    request: ImportRequest, settings: dict[str, str], open_session: Callable[[], Session], outcome: VolumeOutcome
) -> None:
    """Import or check the volume; the outcome gets what is known of it. Raises what `import_volumes` raises."""
    try:
        source = survey_volume(request.files[0], settings)
        outcome.archives = source.archives
        import_volume_into(open_session(), request, settings, source, outcome)
    except WrongUsageError:
        raise
    except (CommandError, OSError) as exc:
        outcome.error = str(exc)


def _choose_code(outcome: VolumeOutcome, request: ImportRequest) -> int:
    return FAILED if outcome.error or not outcome.results else choose_exit_code(outcome.results, request)


def _build_document(outcome: VolumeOutcome, request: ImportRequest) -> Document:
    build, name = (build_check_entry, "checks") if request.is_check else (build_entry, "imports")
    entries = [build(result) for result in outcome.results]
    bates = [each.bates._asdict() for each in outcome.results if each.bates]
    found = {**count_found(outcome.results), "bates": bates[0] if bates else None} if outcome.results else None
    members = {**outcome.figures, "found": found, "error": outcome.error}
    return {"volume": outcome.figures["volume"], name: entries, **members}


def _build_differences(results: Sequence[ImportResult], request: ImportRequest) -> Document:
    """Return the member for what is not as expected; nothing where nothing is."""
    if request.expected is None:
        return {}
    return {"differences": [each._asdict() for each in list_differences(request.expected, results)]}


def _print_volume(outcome: VolumeOutcome, request: ImportRequest, settings: dict[str, str]) -> None:
    """Print the results of the imports, what was found of files and pages, and the error that ended it."""
    if outcome.results and request.is_check:
        has_options = bool(request.options or settings or request.profile)
        print_checks(outcome.results, request.case, outcome.place, sys.stdout, has_options=has_options)
    elif outcome.results:
        print_table(outcome.results, request.case, outcome.place, sys.stdout)
    print_figures(outcome.figures, build_console(sys.stdout), is_check=request.is_check)
    for line in describe_archives((outcome.figures["files"] or {}).get("paths", []), outcome.archives):
        print(line)
    if found := describe_found([result for result in outcome.results if not result.failed]):
        print(f"{'Would be in the case' if request.is_check else 'In the case'}: {found}")
    if outcome.error:
        print(f"exhibit-ingest: error: {outcome.error}", file=sys.stderr)
