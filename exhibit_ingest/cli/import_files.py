"""`exhibit-ingest import`: upload load files one after another, wait for each and report the results."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from exhibit_ingest.cli.arguments import DEFAULT_WORKERS
from exhibit_ingest.cli.signals import Interrupted
from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.import_request import ImportRequest
from local.errors import LocalError, StackBusyError

# Imported when the servers have been started, see `import_files`.
if TYPE_CHECKING:
    from exhibit_ingest.cli.cancellation import Stack
    from exhibit_ingest.cli.summary import ImportResult


def import_files(workspace: Workspace, request: ImportRequest) -> int:
    """Import the files into the stack of a running `serve`, or into one that runs for this command; print the results.

    An interruption cancels the import that runs, and is raised again after the results are printed. Raises LocalError
    when another command uses the state directory, unless the result is printed as JSON, and UsageError if the case
    does not exist and similar ones do.
    """
    with contextlib.ExitStack() as running:
        stack: Stack | LocalError
        try:
            stack = running.enter_context(contextlib.closing(workspace.connect(request.workers or DEFAULT_WORKERS)))
        except LocalError as exc:
            if isinstance(exc, StackBusyError) and not request.json:
                raise
            stack = exc
        # While the servers start, this process imports what it needs.
        with _without_collecting_garbage():
            from exhibit_ingest.cli.import_session import import_into

        results: list[ImportResult] = []
        try:
            import_into(stack, request, results, partial(workspace.connect, 1))
        except Interrupted:
            running.close()
            _report(results, request)
            raise
    return _report(results, request)


@contextlib.contextmanager
def _without_collecting_garbage() -> Iterator[None]:
    """Pause the garbage collector while modules are imported: it finds nothing, and takes a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _report(results: Sequence[ImportResult], request: ImportRequest) -> int:
    if request.is_check:
        return _report_checks(results, request)
    from exhibit_ingest.cli.summary import format_json, print_table

    if request.json:
        print(format_json(results))
    else:
        print_table(results, request.case, request.tenant, sys.stdout)
    if any(result.failed or result.is_profile_refused for result in results):
        return FAILED
    return REJECTED if any(result.state and result.state.rejected for result in results) else DONE


def _report_checks(results: Sequence[ImportResult], request: ImportRequest) -> int:
    from exhibit_ingest.cli.check_results import choose_exit_code, format_checks_json, print_checks

    if request.json:
        print(format_checks_json(results))
    else:
        has_options = bool(request.options.keys() - {"dry_run"} or request.profile)
        print_checks(results, request.case, request.tenant, sys.stdout, has_options=has_options)
    return choose_exit_code(results)
