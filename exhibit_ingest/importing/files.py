"""`exhibit-ingest import` and `check` of load files: one after another, then print the results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.session.output import format_json
from exhibit_ingest.session.session import Context

# Imported when the servers have been started, see `import_files`.
if TYPE_CHECKING:
    from exhibit_ingest.importing.result import ImportResult

_IMPORTS = "exhibit_ingest.importing.file_imports"
ENDED = (
    "ended during the import. Rows imported so far are kept, and the next `serve` or `import` goes on with the rest."
    " To see its result, run the same command again"
)


def import_files(request: ImportRequest, options: argparse.Namespace, context: Context) -> int:
    """Import or check the files, print the results, and return the exit code.

    An interruption cancels the import that runs, and is raised again after the results are printed. Raises CommandError
    where there is no stack, unless the result is printed as JSON, and WrongUsageError if the case does not exist and
    similar ones do.
    """
    results: list[ImportResult] = []
    place: list[str] = []
    code: int | None = None
    try:
        with context.open(
            options, workers=request.workers, may_be_new=True, ended=ENDED, modules=(_IMPORTS,)
        ) as session:
            from exhibit_ingest.importing.file_imports import import_into

            place = session.name_options()
            import_into(session, request, results)
            # Here, because the stack of this machine takes a while to stop.
            code = report(results, request, place)
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        if results and code is None:
            report(results, request, place)
        raise
    except WrongUsageError:
        raise
    except CommandError as exc:
        if code is not None or not (request.json or results):
            raise
        add_failures(results, request, str(exc))
    return report(results, request, place)


def add_failures(results: list[ImportResult], request: ImportRequest, error: str) -> None:
    """Add the error as the result of each file that has none."""
    from exhibit_ingest.importing.result import ImportResult

    results += [ImportResult(file, None, error, 0.0) for file in request.files[len(results) :]]


def report(results: Sequence[ImportResult], request: ImportRequest, place: Sequence[str]) -> int:
    """Print the results, and return the exit code; `place` are the options that name the stack in commands."""
    from exhibit_ingest.importing.expectations import list_differences, print_differences

    differences = list_differences(request.expected, results)
    if request.json:
        print(format_json(_build_document(results, request)))
    else:
        _print(results, request, place)
        print_differences(differences, sys.stdout)
    return FAILED if differences else choose_exit_code(results, request)


def _build_document(results: Sequence[ImportResult], request: ImportRequest) -> dict[str, Any]:
    if request.is_check:
        from exhibit_ingest.importing.check_results import build_check_entry

        document: dict[str, Any] = {"checks": [build_check_entry(result) for result in results]}
    else:
        from exhibit_ingest.importing.summary import build_entry

        document = {"imports": [build_entry(result) for result in results]}
    if request.expected:
        from exhibit_ingest.importing.expectations import list_differences

        document["differences"] = [each._asdict() for each in list_differences(request.expected, results)]
    return document


def _print(results: Sequence[ImportResult], request: ImportRequest, place: Sequence[str]) -> None:
    if request.is_check:
        from exhibit_ingest.importing.check_results import print_checks

        has_options = bool(request.options or request.profile)
        print_checks(results, request.case, place, sys.stdout, has_options=has_options)
    else:
        from exhibit_ingest.importing.summary import print_table

        print_table(results, request.case, place, sys.stdout)


def choose_exit_code(results: Sequence[ImportResult], request: ImportRequest) -> int:
    """Return 1 if a file was not imported or checked, or a profile not saved; 3 for rejected rows, else 0."""
    failed = [result.error if request.is_check else result.failed for result in results]
    if any(failed) or any(result.is_profile_refused for result in results):
        return FAILED
    return REJECTED if any(result.state and result.state.rejected for result in results) else DONE
